"""The files of registered models, by alias: what a program loads that does not want MLflow's prediction interface."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from components.core.errors import HearsightError
from components.tracking.best_alias import BEST

_MISSING = ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")
"""MLflow's codes for a model, alias or file that does not exist."""


class RegisteredFolder(NamedTuple):
    """The folder of a version's files as they were logged, and its number."""

    folder: Path
    version: str


def has_registry(root: Path) -> bool:
    """Return whether a registry is configured or the project has one; asks no server and imports no MLflow."""
    return bool(os.environ.get("MLFLOW_TRACKING_URI")) or (root / "mlflow.db").is_file()


def registered_folder(root: Path, name: str, alias: str = BEST) -> RegisteredFolder | None:
    """Return the files of a registered model's version with this alias; None if there is none, or its files are gone.

    Files on this machine are used where they are, others are downloaded once, to ``.hearsight/models/<model id>``.

    Raises:
        HearsightError: MLflow cannot be reached or read.
    """
    # Here: MLflow takes seconds to import.
    from components.tracking.record import connect

    client = connect(root)
    import mlflow
    from mlflow.exceptions import MlflowException

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
        data = folder / mlflow.models.Model.load(str(folder)).flavors["python_function"]["data"]
    except MlflowException as error:
        if error.error_code in _MISSING:
            return None
        raise _unreadable(error) from error
    except OSError as error:
        raise _unreadable(error) from error
    return RegisteredFolder(data, str(version.version)) if data.is_dir() else None


def _unreadable(error: Exception) -> HearsightError:
    what = f"the registered models cannot be read ({' '.join(str(error).split())[:200]})"
    return HearsightError(what, where="MLflow", hint="start its server, or read the outputs of the project (--outputs)")
