"""Set where the files of outputs are kept: ``params.yaml:storage``, and DVC's remote beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from components.core.bucket import Bucket
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import load_graph
from components.core.params import parse_settings, read_params_file
from components.core.storage import LocalStorage, S3Storage, StorageSettings
from components.execution.runner import lock_all_outputs

LOCAL = "local"
REMOTE = "storage"
"""Name of DVC's remote for manifests and lineages."""
VERSIONS = "dvc"
"""Folder of that remote below the bucket's prefix."""
_BLOCK = re.compile(r"^storage:.*\n(?:[ \t].*\n)*", re.MULTILINE)


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
        _write(root / "params.yaml", block)
    return settings


def _write(path: Path, block: dict[str, Any]) -> None:
    """Replace the block ``storage`` of params.yaml; everything else stays as it is written."""
    content = read_params_file(path) | {"storage": block}
    inner = ", ".join(f"{name}: {json.dumps(value)}" for name, value in block.items())
    line, text = f"storage: {{{inner}}}\n", path.read_text(encoding="utf-8")
    text = _BLOCK.sub(lambda _: line, text, count=1) if _BLOCK.search(text) else f"{text.rstrip()}\n{line}"
    if yaml.safe_load(text) != content:
        raise HearsightError("cannot be edited in place", where=f"{path}: storage", hint=f"write it by hand: {line.strip()}")
    publish_bytes(path, text.encode())


def _set_remote(root: Path, settings: S3Storage) -> None:
    if not (root / ".dvc").is_dir():
        return
    from dvc.config import Config  # here: a second

    config = Config(dvc_dir=str(root / ".dvc"))
    with config.edit("repo") as values:
        remote = {"url": f"{settings.url}/{VERSIONS}"} | ({"endpointurl": settings.endpoint} if settings.endpoint else {})
        values["remote"][REMOTE] = remote
        values["core"].setdefault("remote", REMOTE)
