"""The record of one stage run for MLflow, the names of runs and experiments, and the connection to the tracker.

Records are logged by :mod:`components.tracking.runs`, at the times that :mod:`components.tracking.recorder` defines.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from components.core.addresses import main_project, parse_output_name
from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.core.storage import S3Storage, read_storage

if TYPE_CHECKING:
    from mlflow import MlflowClient


COLUMNS = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "source"),
    ("model_versions", "storage_location"),
)
"""Columns of the database that may hold the address of a local file."""
FOLDER = "mlartifacts"


def follow_move(root: Path) -> None:
    """Let the database of a project that was moved or copied name the files of this folder instead of the earlier one.

    Where the earlier folder still has files that this one lacks, only the experiments follow: new files belong here. A database
    that cannot be read is left to MLflow, which says why.
    """
    database, folder = root.resolve() / "mlflow.db", root.resolve() / FOLDER
    if not database.is_file():
        return
    try:
        with closing(sqlite3.connect(database, timeout=60)) as connection, connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            known = [(table, column) for table, column in COLUMNS if table in tables]
            rows = connection.execute("SELECT name, artifact_location FROM experiments") if known else ()
            for earlier in sorted({_base(*row) for row in rows} - {"", folder.as_uri()}):
                for table, column in known if _is_here(earlier, folder) else known[:1]:
                    connection.execute(
                        f"UPDATE {table} SET {column} = ? || substr({column}, ?) WHERE substr({column}, 1, ?) = ?",
                        (f"{folder.as_uri()}/", len(earlier) + 2, len(earlier) + 1, f"{earlier}/"),
                    )
    except sqlite3.Error:
        return


def _base(experiment: str, location: str | None) -> str:
    """Return the address of the folder that holds an experiment's folder; '' for other storage and MLflow's own experiment."""
    end = f"/{quote(experiment)}"
    base = (location or "").removesuffix(end)
    local = base.startswith("file:") and base.endswith(f"/{FOLDER}")
    return base if local and base != location else ""


def _is_here(earlier: str, folder: Path) -> bool:
    """Return whether the files at an earlier address are here now, or are nowhere."""
    old = Path(unquote(urlsplit(earlier).path))
    return not old.is_dir() or (
        folder.is_dir() and {path.name for path in old.iterdir()} <= {path.name for path in folder.iterdir()}
    )


TAG = "hearsight."
CAPTIONERS, RETRIEVAL, COMPARISONS = "captioner-models", "retrieval-models", "captioner-comparisons"
"""The experiments of trained models, and of models that describe the same folder."""
ABOUT = {
    CAPTIONERS: "One run for each trained captioner: select some and press Compare.",
    RETRIEVAL: "One run for each trained dual encoder of speech and images: select some and press Compare.",
    COMPARISONS: "One run for each model and folder (hearsight compare): select those of a folder and press Compare.",
}
ABOUT_OTHERS = "The runs of this dataset's stages, with records kept, yield and time."
"""What MLflow's list of experiments says of each."""
DATASET_DIGEST = 32
"""Characters of a dataset's digest, of which MLflow takes 36; the dataset's source holds the full digest."""


@dataclass(frozen=True)
class Record:
    """One run of a stage, as JSON values; ``error`` is empty for a finished one."""

    dataset: str
    stage: str
    digest: str = ""
    manifest_md5: str = ""
    lineage_md5: str = ""
    """The MD5 of the lineage's file, by which ``dvc.lock`` names it."""
    params: dict[str, Any] = field(default_factory=dict)
    """The effective settings."""
    given: dict[str, Any] = field(default_factory=dict)
    """Those that the dataset's file gives; the others have their defaults."""
    upstream: dict[str, Any] = field(default_factory=dict)
    """The effective settings of the stages before."""
    params_sha256: str = ""
    code_sha256: str = ""
    parents: list[dict[str, str]] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)
    metrics: list[tuple[str, float, int | None]] = field(default_factory=list)
    scores: list[tuple[str, dict[str, float]]] = field(default_factory=list)
    """Model → its scores; those of the dataset that was rated have no model's name."""
    subjects: list[dict[str, str]] = field(default_factory=list)
    """Outputs whose models or records the scores are about, as parents (:mod:`components.tracking.model_scores`)."""
    commit: str = ""
    dirty: bool = False
    flow_run: str = ""
    pipeline_run: str = ""
    engine: str = ""
    tracker: str = ""
    """The tracker of the stage's environment: :func:`components.tracking.queue.tracker_key`."""
    trainings: list[str] = field(default_factory=list)
    """The names of the progress files of the stage's trainings (:mod:`components.tracking.trainings`)."""
    files: str = ""
    """The folder, relative to the root, of the files to log; empty for none."""
    usage: dict[str, float] = field(default_factory=dict)
    """Figures of the run: seconds, records, memory, cost ... (:class:`components.execution.measure.RunMeter`)."""
    started: float = 0.0
    ended: float = 0.0
    error: str = ""

    @classmethod
    def parse(cls, text: str) -> Record:
        """Return a record from JSON; fields of an older version of this project are left out."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in json.loads(text).items() if name in known})

    @property
    def name(self) -> str:
        """The run's name, which contains the output's digest."""
        return run_name(self.dataset, self.stage, self.digest or "failed")

    @property
    def identity(self) -> str:
        """A digest that is equal for equal output, code, parameters and inputs; a failure differs by its start."""
        identity = (self.dataset, self.stage, self.digest, self.params_sha256, self.code_sha256, self.parents, self.error)
        return digest_value([*identity, self.lineage_md5, self.started if self.error else 0])


def run_name(dataset: str, stage: str, digest: str) -> str:
    """Return the name of the run of an output; runs of a matrix, which share an experiment, include the cell."""
    _, cell = parse_output_name(dataset) if "/" in dataset else ("", "")
    return f"{stage} {cell}@{digest[:8]}" if cell else f"{stage}@{digest[:8]}"


def experiment_name(dataset: str) -> str:
    """Return the name of a dataset's experiment; the cells of a matrix share one."""
    return dataset.partition("/")[0]


def tracking_uri(root: Path) -> str:
    """Return ``MLFLOW_TRACKING_URI``, or the project's SQLite file."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{(main_project(root) / 'mlflow.db').resolve()}"


def connect(root: Path) -> MlflowClient:
    """Return a client of the project's tracker.

    Raises:
        HearsightError: MLflow cannot make a database in this folder, because its path has both kinds of quotation marks.
    """
    if {"'", '"'} <= set(str(root.resolve())):
        raise HearsightError("MLflow cannot work in a path with both ' and \"", where=root, hint="rename the folder")
    for name, value in {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
        "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
        "GIT_PYTHON_REFRESH": "quiet",
    }.items():
        os.environ.setdefault(name, value)
    os.environ.update(artifact_environment(root) | os.environ)
    import mlflow  # here: takes seconds, and reads the variables above

    for logger in ("alembic", "mlflow", "mlflow.store.db.utils"):
        logging.getLogger(logger).setLevel(logging.ERROR)
    uri = tracking_uri(root)
    follow_move(main_project(root))
    mlflow.set_tracking_uri(uri)
    mlflow.set_registry_uri(uri)
    return mlflow.MlflowClient(uri, uri)


def artifact_environment(root: Path) -> dict[str, str]:
    """Return the variables by which MLflow finds the server of artifacts in S3; none for AWS or a local storage."""
    storage = read_storage(root)
    return {"MLFLOW_S3_ENDPOINT_URL": storage.endpoint} if isinstance(storage, S3Storage) and storage.endpoint else {}


def experiment_id(client: MlflowClient, root: Path, dataset: str) -> str:
    """Return the id of a dataset's experiment; creates it when it is missing."""
    name = experiment_name(dataset)
    tags = {"mlflow.experimentKind": "custom_model_development", "mlflow.note.content": ABOUT.get(name, ABOUT_OTHERS)}
    if experiment := client.get_experiment_by_name(name):
        for tag, value in tags.items():
            if tag not in experiment.tags:  # made by an older version of this project
                client.set_experiment_tag(experiment.experiment_id, tag, value)
        return str(experiment.experiment_id)
    local = tracking_uri(root).startswith("sqlite:")
    artifacts = (main_project(root) / FOLDER / name).resolve().as_uri() if local else None
    if local and isinstance(storage := read_storage(root), S3Storage):
        artifacts = f"{storage.url}/mlflow/{name}"
    return str(client.create_experiment(name, artifact_location=artifacts, tags=tags))


def dataset_of(parent: Mapping[str, str]) -> tuple[str, str]:
    """Return the name and the full digest of a parent as an MLflow dataset."""
    return parent.get("output", parent["name"]), parent.get("manifest_sha256") or parent["digest"]
