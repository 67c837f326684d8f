"""Older outputs in DVC's cache and remotes: which of them hold removed records, and exactly the objects that go.

An output is one ``.dir`` object that lists its files. A version is **tainted** when one of its files holds a removed record,
or when a lineage of it names a tainted parent; then all of its files go that neither the current chain nor an untainted
version refers to. Versions of ``train`` stay: weights are no records, and the models are listed instead (``tracked``).
Objects are reached through DVC's own object stores, so a local folder and S3 are the same here.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.params import YAML_LOADER
from components.core.records import MODEL_STAGES
from components.tools.takedown.file_search import Look, Seeker

if TYPE_CHECKING:
    from dvc.repo import Repo

RECORDS = ("shards/", "ledger/", "media/")


@dataclass(frozen=True)
class Objects:
    """One of DVC's stores: the cache or a remote."""

    name: str
    odb: Any
    runs: str
    """Where its run cache lies."""

    def ids(self) -> list[str]:
        """Every object's id; a folder's ends in ``.dir``."""
        return sorted(self.odb.all())

    def path(self, oid: str) -> str:
        return str(self.odb.oid_to_path(oid))

    def read(self, oid: str) -> bytes:
        """An object's bytes."""
        with self.odb.fs.open(self.path(oid), "rb") as handle:
            return bytes(handle.read())

    def run_files(self) -> Iterator[tuple[str, str]]:
        """Every entry of the run cache with its text."""
        if self.odb.fs.exists(self.runs):
            for path in sorted(self.odb.fs.find(self.runs)):
                with self.odb.fs.open(path, "rb") as handle:
                    yield path, handle.read().decode("utf-8", "replace")

    def remove(self, path: str) -> None:
        """Remove one object or entry."""
        if isinstance(self.odb.fs.protocol, str) and self.odb.fs.protocol == "local":
            Path(path).unlink(missing_ok=True)
        else:
            self.odb.fs.remove(path)


@dataclass
class Version:
    """One version of one output."""

    oid: str
    files: dict[str, str]
    """Path inside the output → object id."""
    digest: str = ""
    """The manifest's sha256, as everywhere."""
    stage: str = ""
    dataset: str = ""
    parents: tuple[str, ...] = ()
    lineages: tuple[str, ...] = ()
    """The objects that hold its lineage: one for each run that made it."""


@dataclass
class Stored:
    """What one store holds that goes."""

    objects: Objects
    gone: dict[str, str] = field(default_factory=dict)
    """Path of an object or run-cache entry → why."""
    versions: list[Version] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    """Digests of the versions in which a removed record was found."""


def stores(repo: Repo) -> Iterator[Objects]:
    """The cache, then each configured remote.

    Raises:
        HearsightError: a remote cannot be opened; what it holds would stay unseen.
    """
    fs = repo.cache.local.fs
    yield Objects("DVC's cache", repo.cache.local, fs.join(repo.cache.legacy.path, "runs"))
    for name in sorted(repo.config["remote"]):
        try:
            odb = repo.cloud.get_remote_odb(name)
            legacy = repo.cloud.get_remote_odb(name, hash_name="md5-dos2unix")
            odb.fs.exists(odb.path)
        except Exception as error:  # every cloud raises its own
            line = " ".join(str(error).split())[:200]
            raise HearsightError(f"cannot be reached ({line})", where=f"DVC remote {name}", hint="fix it and run again") from None
        yield Objects(f"DVC remote {name}", odb, odb.fs.join(legacy.path, "runs"))


def current_objects(root: Path, cache: Objects) -> set[str]:
    """Every object that ``dvc.lock`` refers to, files of folders included."""
    try:
        stages = yaml.load((root / "dvc.lock").read_text(encoding="utf-8"), YAML_LOADER)["stages"]
    except FileNotFoundError:
        return set()
    except (yaml.YAMLError, KeyError, TypeError):
        raise HearsightError("cannot be read", where=root / "dvc.lock", hint="run `dvc repro`") from None
    found = {
        item["md5"] for entry in stages.values() for part in ("deps", "outs") for item in entry.get(part, []) if "md5" in item
    }
    for oid in [oid for oid in found if oid.endswith(".dir")]:
        with suppress(FileNotFoundError):
            found.update(_listing(cache.read(oid)).values())
    return found


def find(objects: Objects, seeker: Seeker, current: set[str], known: dict[str, Look]) -> Stored:
    """What has to go from one store.

    Args:
        seeker: recognises removed records.
        current: objects the current chain refers to: they stay, and a run made anew has nothing listed in them.
        known: object id → what was seen in it; filled here, so that a remote's copy is not fetched again.

    Raises:
        HearsightError: the current chain itself refers to a removed record.
    """
    stored = Stored(objects)
    ids = objects.ids()
    stored.versions = [_version(objects, oid, set(ids)) for oid in ids if oid.endswith(".dir")]
    _add_parents(objects, stored.versions)
    later = {oid for v in stored.versions if v.stage not in ("", "crawl") for oid in v.files.values()}
    later -= {oid for v in stored.versions if v.stage in ("", "crawl") for oid in v.files.values()}
    for oid in ids:
        if not oid.endswith(".dir") and oid not in known:
            known[oid] = seeker.stream(io.BytesIO(objects.read(oid))).settle(oid not in later)
    for path, oid in {(path, oid) for v in stored.versions if v.oid not in current for path, oid in v.files.items()}:
        if oid in known and seeker.named(path):
            known[oid].hit("the file's name")
    hit = {oid for oid in ids if oid in known and known[oid].hits}
    records = {oid for v in stored.versions for path, oid in v.files.items() if path.startswith(RECORDS)}
    if hit & current & records:
        raise HearsightError(
            "refers to an output that holds what is listed",
            where="dvc.lock",
            hint="run `dvc repro` first, so that it names the new one",
        )
    hit -= current
    tainted = {v.oid for v in stored.versions if v.oid not in current and hit & set(v.files.values())}
    stored.held = {v.digest for v in stored.versions if v.oid in tainted and v.digest}
    digests = set(stored.held)
    while True:
        more = [v for v in stored.versions if v.oid not in tainted and v.oid not in current and digests & set(v.parents)]
        if not more:
            break
        tainted.update(v.oid for v in more)
        digests.update(v.digest for v in more)
    going = [v for v in stored.versions if v.oid in tainted and v.stage not in MODEL_STAGES]
    stay = current | {oid for v in stored.versions if v not in going for oid in (*v.files.values(), *v.lineages)}
    for v in going:
        why = f"an older {v.dataset}/{v.stage}" if v.stage else "an older output"
        stored.gone[objects.path(v.oid)] = why
        files = {*v.files.values(), *v.lineages} & set(ids) - stay
        stored.gone.update((objects.path(oid), why) for oid in sorted(files))
    stored.gone.update((objects.path(oid), "holds what is listed") for oid in hit)
    folders = {v.oid for v in going}
    for path, content in objects.run_files():
        if any(oid in content for oid in folders) or seeker.wanted.in_text(content):
            stored.gone[path] = "an entry of the run cache"
    return stored


def _listing(raw: bytes) -> dict[str, str]:
    return {entry["relpath"]: entry["md5"] for entry in json.loads(raw)}


def _version(objects: Objects, oid: str, there: set[str]) -> Version:
    version = Version(oid, _listing(objects.read(oid)))
    manifest = version.files.get("manifest.json", "")
    if manifest in there:
        raw = objects.read(manifest)
        version.digest, version.stage = sha256_bytes(raw), json.loads(raw).get("stage", "")
    return version


def _add_parents(objects: Objects, versions: list[Version]) -> None:
    """Read the dataset and the parents of each version from the lineages, which are files of no folder."""
    by_digest: dict[str, list[Version]] = {}
    for version in versions:
        by_digest.setdefault(version.digest, []).append(version)
    in_folders = {oid for version in versions for oid in version.files.values()}
    for oid in objects.ids():
        if oid.endswith(".dir") or oid in in_folders:
            continue
        try:
            lineage = json.loads(objects.read(oid))
            parents = [parent.get("manifest_sha256") or parent.get("digest", "") for parent in lineage["parents"]]
            made = by_digest.get(lineage["manifest_sha256"], [])
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # no lineage
        for version in made:
            version.dataset = lineage.get("dataset", "")
            version.parents = (*version.parents, *parents)
            version.lineages = (*version.lineages, oid)
