"""Set where the files of outputs are kept (``params.yaml:storage``, DVC's remote); send, fetch and count whole outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from components.core.bucket import Bucket
from components.core.errors import HearsightError
from components.core.graph import Graph, load_graph
from components.core.manifest import NAME
from components.core.object_store import OBJECTS, ObjectStore
from components.core.params import did_you_mean, parse_settings
from components.core.shard_cache import SHARED
from components.core.stage_output import StageOutput
from components.core.storage import LocalStorage, S3Storage, StorageSettings
from components.core.stored_files import keep_output, provide_all, store_of
from components.core.yaml_edit import edited_yaml
from components.execution.runner import lock_all_outputs
from components.web.stored_snapshots import COMPLETE, keep_snapshot


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
