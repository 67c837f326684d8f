"""Find what the bucket, and this machine's copies of its objects, keep of older outputs with removed records.

An output in S3 is its manifest and the objects that the manifest names. It is searched as one of DVC's folders is
(:mod:`components.tools.takedown.versions`), so the same rules decide what is tainted and what stays.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING

from components.core.digests import sha256_bytes
from components.core.graph import Graph
from components.core.manifest import NAME, parse_manifest
from components.core.object_store import OBJECTS, REPAIR, ObjectStore, object_key
from components.core.shard_cache import SHARED
from components.core.stage_output import StageOutput
from components.core.stored_files import LINEAGES, provide_all, store_of
from components.tools.takedown import versions
from components.tools.takedown.versions import Objects
from components.web.stored_snapshots import fetch_snapshot, named_objects, stored_snapshots

if TYPE_CHECKING:
    from dvc.repo import Repo

VERSIONING = "the bucket keeps versions of what is deleted: let its life cycle remove them, or delete them by hand"


@dataclass(frozen=True)
class BucketObjects(Objects):
    """The bucket as one of DVC's stores: objects, manifests as folders (``<sha256>.dir``), and lineages."""

    store: ObjectStore

    @cached_property
    def _lineages(self) -> list[str]:
        return sorted(one.key for one in self.store.bucket.list(LINEAGES))

    @cached_property
    def _ids(self) -> list[str]:
        digests = {one.key.rpartition("/")[2] for one in self.store.bucket.list(OBJECTS)}
        manifests = {key.split("/")[1] for key in self._lineages} & digests
        return sorted([*digests, *(f"{digest}.dir" for digest in manifests), *self._lineages])

    def ids(self) -> list[str]:
        """Return the ids of objects, of manifests as folders, and of lineages, sorted."""
        return self._ids

    def path(self, oid: str) -> str:
        """Return the key of an id."""
        return oid if oid.startswith(f"{LINEAGES}/") else object_key(oid.removesuffix(".dir"))

    def open(self, oid: str) -> IO[bytes]:
        """Open an object. Raises as :meth:`read`."""
        return io.BytesIO(self.read(oid))

    def read(self, oid: str) -> bytes:
        """Return the bytes of an object or lineage; of a manifest as a folder, its listing in DVC's form.

        Raises:
            ObjectMissing: it is damaged, so that nobody can tell what it holds.
        """
        key = self.path(oid)
        data, digest = self.store.bucket.read(key) or b"", key.rpartition("/")[2]
        if sha256_bytes(data) != digest:
            raise self.store.bucket.damaged(key, REPAIR)
        if not oid.endswith(".dir"):
            return data
        files = parse_manifest(data, Path(NAME)).expected_files()
        listing = [{"relpath": name, "md5": sha256} for name, (_, sha256) in files.items()]
        return json.dumps([*listing, {"relpath": NAME, "md5": digest}]).encode()

    def cache_entries(self) -> Iterator[tuple[str, str]]:
        """Yield (key, text) of every entry of the shard cache."""
        for entry in self.store.bucket.list(SHARED):
            yield entry.key, (self.store.bucket.read(entry.key) or b"").decode("utf-8", "replace")

    def remove(self, path: str) -> None:
        """Delete a key, and this machine's copy of the object."""
        self.store.bucket.delete([path])
        self.store.copy_of(path.rpartition("/")[2]).unlink(missing_ok=True)


def fetch_current(graph: Graph) -> None:
    """Fetch the records and ledgers of the current outputs, and all snapshots: a purge reads and erases them on this disk."""
    for _, _, folder in graph.outputs():
        if (folder / NAME).is_file():
            provide_all(folder, "shards/")
            provide_all(folder, "ledger/")
    if (store := store_of(graph.root)) is not None:
        for name in stored_snapshots(store):
            fetch_snapshot(graph.root / "data" / "store" / name, store)


def open_stores(root: Path, repo: Repo | None) -> Iterator[Objects]:
    """Yield DVC's stores, the cache first, and the project's bucket. Raises as :func:`versions.open_stores`."""
    if repo is not None:
        yield from versions.open_stores(repo)
    if (store := store_of(root)) is not None:
        yield BucketObjects(store.settings.url, None, "", store)


def find_current(root: Path, graph: Graph, objects: BucketObjects) -> set[str]:
    """Return the ids that the outputs in ``data/`` and the snapshots in the bucket refer to."""
    # Snapshots are erased in place and stored anew, which deletes their old segments.
    current = named_objects(objects.store)
    for _, _, folder in graph.outputs():
        if (folder / NAME).is_file():
            manifest = StageOutput(folder).manifest
            current |= {f"{manifest.digest}.dir", *manifest.objects()}
            current |= {oid for oid in objects.ids() if oid.startswith(f"{LINEAGES}/{manifest.digest}/")}
    return current


def find_copies(store: ObjectStore, current: set[str]) -> list[Path]:
    """Return this machine's copies of objects that nothing current needs; they can be fetched again, if they are still there."""
    return sorted(path for path in store.cache.glob("*/*") if path.name not in current)
