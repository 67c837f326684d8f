"""Set where the files of outputs are kept (``params.yaml:storage``, DVC's remote); send, fetch and count whole outputs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from components.core.bucket import Bucket
from components.core.digests import sha256_file
from components.core.errors import HearsightError, ObjectMissing
from components.core.graph import Graph, load_graph
from components.core.manifest import NAME
from components.core.object_store import OBJECTS, ObjectStore, in_threads, object_key
from components.core.params import did_you_mean, parse_settings
from components.core.shard_cache import SHARED, read_shared
from components.core.stage_output import StageOutput
from components.core.storage import LocalStorage, S3Storage, StorageSettings
from components.core.stored_files import CACHE, LINEAGES, STATE, keep_output, provide_all, store_of
from components.core.yaml_edit import edited_yaml
from components.execution.runner import lock_all_outputs
from components.web.stored_snapshots import COMPLETE, SNAPSHOTS, keep_snapshot, read_document, repair_document


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


def require_store(root: Path) -> ObjectStore:
    """Return the project's object store; raises HearsightError when storage is local."""
    if (store := store_of(root)) is None:
        hint = "run `hearsight storage use s3://bucket/prefix`"
        raise HearsightError("is local: there is no bucket", where=f"{root / 'params.yaml'}: storage", hint=hint)
    return store


def chosen_outputs(graph: Graph, names: Sequence[str]) -> list[StageOutput]:
    """Return the finished outputs named ``DATASET/STAGE``, or all of them without names.

    Raises:
        HearsightError: a name is not of the chain, or its output is not finished here.
    """
    outputs = {f"{dataset}/{stage}": StageOutput(folder) for stage, dataset, folder in graph.outputs()}
    for name in names:
        if name not in outputs:
            raise HearsightError(f"'{name}' is no output of the chain", where="storage", hint=did_you_mean(name, outputs))
        _ = outputs[name].manifest
    return [output for name, output in outputs.items() if (name in names if names else (output.path / NAME).is_file())]


def push_outputs(graph: Graph, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Store finished outputs in the bucket; yield a line for each. Raises as :func:`chosen_outputs`."""
    require_store(graph.root)
    for output in chosen_outputs(graph, names):
        absent = [name for name in output.manifest.expected_files() if not (output.path / name).exists()]
        if absent:
            missing = require_store(graph.root).missing(output.manifest.objects())
            if missing:
                raise HearsightError(f"lacks {absent[0]}, and so does the bucket", where=output.path, hint="run its stage again")
        else:
            keep_output(output.path, output.manifest)
        yield {"output": output.name, "files": len(output.manifest.expected_files()), "bytes": output.manifest.size}


def push_snapshots(root: Path) -> Iterator[dict[str, Any]]:
    """Store the complete snapshots of the fetch store; yield a line for each."""
    for path in sorted((root / "data" / "store").glob(f"*/{COMPLETE}")):
        keep_snapshot(path.parent, store_of(root))
        yield {"snapshot": path.parent.name}


def pull_outputs(graph: Graph, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Fetch all files of finished outputs; yield a line for each. Raises as :func:`chosen_outputs`."""
    require_store(graph.root)
    for output in chosen_outputs(graph, names):
        provide_all(output.path)
        yield {"output": output.name, "files": len(output.manifest.expected_files()), "bytes": output.manifest.size}


def read_status(graph: Graph) -> list[dict[str, Any]]:
    """Return a line for each finished output with what is here and what the bucket lacks, and one for the whole bucket."""
    store = require_store(graph.root)
    lines = []
    for output in chosen_outputs(graph, []):
        files, objects = output.manifest.expected_files(), output.manifest.objects()
        here = sum((output.path / name).exists() for name in files)
        lines.append(
            {"output": output.name, "files": len(files), "bytes": output.manifest.size, "here": here}
            | {"missing in the bucket": len(store.missing(objects))}
        )
    stored = list(store.bucket.list(OBJECTS))
    entries = sum(1 for _ in store.bucket.list(SHARED))
    lines.append({"output": store.settings.url, "files": len(stored), "bytes": sum(one.size for one in stored), "cache": entries})
    return lines


LOCAL = "local"
REMOTE = "storage"
"""Name of DVC's remote for manifests and lineages."""
VERSIONS = "dvc"
"""Folder of that remote below the bucket's prefix."""


def use_storage(root: Path, where: str, endpoint: str = "") -> LocalStorage | S3Storage:
    """Set the storage to ``s3://bucket/prefix`` or ``local`` and return the settings.

    Raises:
        HearsightError: the address is not valid, the bucket is not accessible, or a stage is running.
    """
    block: dict[str, Any] = {"kind": LOCAL, "versioned": ""}
    if where != LOCAL:
        block = {"kind": "s3", "url": where.rstrip("/"), "endpoint": endpoint, "versioned": "/manifest.json"}
    settings = parse_settings(StorageSettings, block, "storage")
    assert isinstance(settings, LocalStorage | S3Storage)
    if isinstance(settings, S3Storage):
        Bucket(settings).require_access()
    with lock_all_outputs(load_graph(root)):
        if isinstance(settings, S3Storage):
            _set_remote(root, settings)
        with edited_yaml(root / "params.yaml") as content:
            content["storage"] = block
    return settings


def _set_remote(root: Path, settings: S3Storage) -> None:
    if not (root / ".dvc").is_dir():
        return
    from dvc.config import Config  # here: a second

    config = Config(dvc_dir=str(root / ".dvc"))
    with config.edit("repo") as values:
        remote = {"url": f"{settings.url}/{VERSIONS}"} | ({"endpointurl": settings.endpoint} if settings.endpoint else {})
        values["remote"][REMOTE] = remote
        values["core"].setdefault("remote", REMOTE)
