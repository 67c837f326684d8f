"""Set where the files of outputs are kept: ``params.yaml:storage``, and DVC's remote beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components.core.bucket import Bucket
from components.core.graph import load_graph
from components.core.params import parse_settings
from components.core.storage import LocalStorage, S3Storage, StorageSettings
from components.core.yaml_edit import edited_yaml
from components.execution.runner import lock_all_outputs

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
