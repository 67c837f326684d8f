"""Find the objects in DVC's cache and remotes that belong to older outputs with removed records.

An output is one ``.dir`` object that lists its files. A version is **tainted** when one of its files holds a removed record, or
when its lineage names a tainted parent. Its files are deleted unless the current chain or an untainted version refers to them.
Versions of training stages stay: weights are no records, and ``tracked`` reports the models.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.graph import read_lock_of
from components.core.records import MODEL_STAGES
from components.tools.takedown.file_search import FileSearch

if TYPE_CHECKING:
    from dvc.repo import Repo

RECORDS = ("shards/", "ledger/", "media/")
"""Folders of an output that hold records."""
_ID = re.compile(r"[0-9a-f]{32,}(?:\.dir)?")


@dataclass(frozen=True)
class Objects:
    """One of DVC's stores: the cache or a remote."""

    name: str
    odb: Any
    runs: str
    """Folder of its run cache."""

    def ids(self) -> list[str]:
        """Return the id of every object, sorted; a folder's ends in ``.dir``."""
        return sorted(self.odb.all())

    def path(self, oid: str) -> str:
        """Return an object's path in the store's file system."""
        return str(self.odb.oid_to_path(oid))

    def open(self, oid: str) -> IO[bytes]:
        """Open an object."""
        handle: IO[bytes] = self.odb.fs.open(self.path(oid), "rb")
        return handle

    def read(self, oid: str) -> bytes:
        """Return an object's bytes."""
        with self.open(oid) as handle:
            return bytes(handle.read())

    def cache_entries(self) -> Iterator[tuple[str, str]]:
        """Yield (path, text) of every entry of the run cache: it names objects by their ids."""
        if self.odb.fs.exists(self.runs):
            for path in sorted(self.odb.fs.find(self.runs)):
                with self.odb.fs.open(path, "rb") as handle:
                    yield path, handle.read().decode("utf-8", "replace")

    def remove(self, path: str) -> None:
        """Delete one object or run-cache entry."""
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
    """The manifest's sha256, which is the output's digest."""
    stage: str = ""
    parents: tuple[str, ...] = ()
    lineages: tuple[str, ...] = ()
    """The objects that hold its lineage: one for each run that made it."""


def open_stores(repo: Repo) -> Iterator[Objects]:
    """Yield the cache, then each configured remote.

    Raises:
        HearsightError: a remote cannot be opened, so its content cannot be searched.
    """
    fs = repo.cache.local.fs
    yield Objects("DVC's cache", repo.cache.local, fs.join(repo.cache.legacy.path, "runs"))
    for name in sorted(repo.config["remote"]):
        try:
            odb = repo.cloud.get_remote_odb(name)
            legacy = repo.cloud.get_remote_odb(name, hash_name="md5-dos2unix")
            odb.fs.exists(odb.path)
        except Exception as error:  # each cloud's client has its own exceptions
            line = " ".join(str(error).split())[:200]
            raise HearsightError(
                f"cannot be reached ({line})", where=f"DVC remote {name}", hint="check its address and credentials, and run again"
            ) from None
        yield Objects(f"DVC remote {name}", odb, odb.fs.join(legacy.path, "runs"))


def find_current_objects(root: Path, cache: Objects) -> set[str]:
    """Return the ids of all objects that ``dvc.lock`` refers to, including the files of folders."""
    oids = {
        item["md5"]
        for entry in read_lock_of(root).values()
        for part in ("deps", "outs")
        for item in entry.get(part, [])
        if "md5" in item
    }
    for oid in [oid for oid in oids if oid.endswith(".dir")]:
        with suppress(FileNotFoundError):
            oids.update(_listing(cache, oid).values())
    return oids


def find_outdated(
    objects: Objects, search: FileSearch, current: set[str], searched: dict[str, set[str]]
) -> tuple[dict[str, str], set[str]]:
    """Return what has to be deleted from one store, and which outputs held something removed.

    The first is path of an object or run-cache entry → reason; the second the digests of the versions with such a file.

    Args:
        search: recognises removed records.
        current: objects the current chain refers to; they stay.
        searched: object id → hits; filled here, so that a remote's copy is not fetched again.

    Raises:
        HearsightError: the current chain itself refers to a removed record.
    """
    ids, versions = objects.ids(), list_versions(objects)
    after_crawl = {oid for v in versions if v.stage not in ("", "crawl") for oid in v.files.values()}
    after_crawl -= {oid for v in versions if v.stage in ("", "crawl") for oid in v.files.values()}
    for oid in ids:
        if not oid.endswith(".dir") and oid not in searched:
            searched[oid] = search.in_stream(io.BytesIO(objects.read(oid)), crawl=oid not in after_crawl)
    for path, oid in {(path, oid) for v in versions if v.oid not in current for path, oid in v.files.items()}:
        if oid in searched and search.has_removed_name(path):
            searched[oid].add("the file's name")
    hits = {oid for oid in ids if searched.get(oid)}
    records = {oid for v in versions for path, oid in v.files.items() if path.startswith(RECORDS)}
    if hits & current & records:
        raise HearsightError(
            "refers to an output that holds what is listed",
            where="dvc.lock",
            hint="run `dvc repro` first, so that it names the new one",
        )
    hits -= current
    tainted = {v.oid for v in versions if v.oid not in current and hits & set(v.files.values())}
    holders = {v.digest for v in versions if v.oid in tainted and v.digest}
    digests, left = set(holders), [v for v in versions if v.oid not in current]
    while more := [v for v in left if v.oid not in tainted and digests & set(v.parents)]:
        tainted.update(v.oid for v in more)
        digests.update(v.digest for v in more)
    deleted = [v for v in versions if v.oid in tainted and v.stage not in MODEL_STAGES]
    kept = current | {oid for v in versions if v not in deleted for oid in (*v.files.values(), *v.lineages)}
    reasons: dict[str, str] = {}
    for v in deleted:
        reason = f"an older output of {v.stage}" if v.stage else "an older output"
        reasons |= dict.fromkeys([v.oid, *sorted({*v.files.values(), *v.lineages} & set(ids) - kept)], reason)
    reasons |= dict.fromkeys(hits, "holds what is listed")
    paths = {objects.path(oid): reason for oid, reason in reasons.items()}
    for path, content in objects.cache_entries():
        if reasons.keys() & set(_ID.findall(content)) or search.matcher.find_in_text(content):
            paths[path] = "an entry of a cache that names it"
    return paths, holders


def list_versions(objects: Objects) -> list[Version]:
    """Return every version in a store."""
    ids = set(objects.ids())
    versions = [Version(oid, _listing(objects, oid)) for oid in sorted(ids) if oid.endswith(".dir")]
    for version in versions:
        if (manifest := version.files.get("manifest.json", "")) in ids:
            raw = objects.read(manifest)
            try:
                version.digest, version.stage = sha256_bytes(raw), json.loads(raw)["stage"]
            except (ValueError, KeyError, TypeError):
                raise _damaged(objects, manifest) from None
    _add_parents(objects, versions)
    return versions


def _listing(objects: Objects, oid: str) -> dict[str, str]:
    try:
        entries = json.loads(objects.read(oid))
        if not isinstance(entries, list):
            raise TypeError
        return {entry["relpath"]: entry["md5"] for entry in entries}
    except (ValueError, KeyError, TypeError):
        raise _damaged(objects, oid) from None


def _damaged(objects: Objects, oid: str) -> HearsightError:
    hint = "delete it, and run `dvc push` or `dvc fetch` where another copy is; nobody can tell what it holds"
    return HearsightError("is damaged", where=f"{objects.name}: {objects.path(oid)}", hint=hint)


def _add_parents(objects: Objects, versions: list[Version]) -> None:
    """Set the parents of each version from the lineage files, which belong to no folder."""
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
            described = by_digest.get(lineage["manifest_sha256"], [])
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # not a lineage file
        for version in described:
            version.parents = (*version.parents, *parents)
            version.lineages = (*version.lineages, oid)
