"""Find what is damaged in the bucket, and repair it from the files of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from components.core.digests import sha256_file
from components.core.errors import ObjectMissing
from components.core.graph import Graph
from components.core.manifest import NAME
from components.core.object_store import OBJECTS, ObjectStore, in_threads, object_key
from components.core.shard_cache import SHARED, read_shared
from components.core.stage_output import StageOutput
from components.core.stored_files import CACHE, LINEAGES, STATE
from components.tools.storage.transfer import chosen_outputs, require_store
from components.web.stored_snapshots import COMPLETE, SNAPSHOTS, read_document, repair_document


def find_damaged(graph: Graph, names: Sequence[str] = ()) -> list[str]:
    """Return the keys of objects and documents that are not what was written; each is read whole.

    Args:
        names: outputs whose objects are read; without any, the whole bucket is.
    """
    store = require_store(graph.root)
    if not names:
        stored = [one.key for folder in (OBJECTS, LINEAGES) for one in store.bucket.list(folder)]
        return [*_select_damaged(store, stored), *_damaged_documents(store)]
    digests = {sha256 for output in chosen_outputs(graph, names) for sha256 in output.manifest.objects()}
    return _select_damaged(store, [object_key(sha256) for sha256 in sorted(digests)])


def _select_damaged(store: ObjectStore, keys: Sequence[str]) -> list[str]:
    """Return those of the keys, which end in a digest, under which other bytes are stored."""
    digests = in_threads(lambda key: store.bucket.download(key, Path(os.devnull)), keys)
    return [key for key, digest in zip(keys, digests, strict=True) if digest not in (None, key.rpartition("/")[2])]


def _damaged_documents(store: ObjectStore) -> Iterator[str]:
    for folder, read in ((SHARED, read_shared), (SNAPSHOTS, read_document)):
        for document in store.bucket.list(folder):
            try:
                read(store, document.key)
            except ObjectMissing:
                yield document.key


def repair(graph: Graph, damaged: Sequence[str]) -> Iterator[str]:
    """Write what is damaged anew from this machine's files and yield the keys; what no file here has stays.

    Entries of the shard cache are deleted: the results are computed again.
    """
    store, files = require_store(graph.root), dict(_local_files(graph)) if damaged else {}
    for key in damaged:
        folder, name = key.partition("/")[0], key.rpartition("/")[2]
        snapshot = graph.root / "data" / "store" / Path(name).stem
        if folder == SHARED:
            store.bucket.delete([key])
        elif folder == SNAPSHOTS and (snapshot / COMPLETE).exists():
            repair_document(snapshot, store)
        elif folder != SNAPSHOTS and name in files and sha256_file(files[name]) == name:
            store.bucket.upload(key, files[name])
        else:
            continue
        yield key


def _local_files(graph: Graph) -> Iterator[tuple[str, Path]]:
    """Yield digest and path of this machine's files that the bucket may have as objects."""
    root = graph.root
    copies = [
        *(root / CACHE).glob("*/*"),
        *(root / STATE / "cache").glob("*/*/**/*"),
        *(root / "reports" / "lineage").rglob("*.json"),
    ]
    copies += [path for complete in (root / "data" / "store").glob(f"*/{COMPLETE}") for path in complete.parent.iterdir()]
    yield from ((sha256_file(path), path) for path in copies if path.is_file())
    for output in chosen_outputs(graph, []):
        files = {name: sha256 for name, (_, sha256) in output.manifest.expected_files().items()} | {NAME: output.digest}
        yield from ((sha256, output.path / name) for name, sha256 in files.items() if (output.path / name).exists())


def name_users(outputs: Sequence[StageOutput], key: str) -> str:
    """Return the names of the outputs that need the object under ``key``."""
    return ", ".join(output.name for output in outputs if key.rpartition("/")[2] in output.manifest.objects())
