"""The files of registered models, by alias: what a program loads that does not want MLflow's prediction interface."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from components.tracking.best import BEST


class RegisteredFolder(NamedTuple):
    """The folder of a version's files as they were logged, and its number."""

    folder: Path
    version: str


def has_registry(root: Path) -> bool:
    """Return whether a registry is configured or the project has one; asks no server and imports no MLflow."""
    return bool(os.environ.get("MLFLOW_TRACKING_URI")) or (root / "mlflow.db").is_file()


def registered_folder(root: Path, name: str, alias: str = BEST) -> RegisteredFolder | None:
    """Return the files of a registered model's version with this alias; None if there is none or MLflow cannot give it.

    Files on this machine are used where they are, others are downloaded once, to ``.hearsight/models/<model id>``.
    """
    # Here: MLflow takes seconds to import.
    from components.tracking.record import connect

    client = connect(root)
    import mlflow

    try:
        version = client.get_model_version_by_alias(name, alias)
        model_id = str(version.model_id or str(version.source).rpartition("/")[2])
        location = str(client.get_logged_model(model_id).artifact_location)
        parts = urlsplit(location)
        if parts.scheme in ("", "file"):
            folder = Path(unquote(parts.path))
        else:
            folder = root / ".hearsight" / "models" / model_id
            if not (folder / "MLmodel").is_file():
                mlflow.artifacts.download_artifacts(location, dst_path=str(folder))
        configured = mlflow.models.Model.load(str(folder)).flavors["python_function"]["data"]
        data = folder / configured
    # A server that is down or files that are gone raise errors of MLflow, of HTTP clients and of the system.
    except Exception:
        return None
    return RegisteredFolder(data, str(version.version)) if data.is_dir() else None
