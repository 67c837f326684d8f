"""Describe one stage's run for MLflow, name it, and connect to the tracker.

How it is logged is :mod:`components.tracking.runs`; when, and what happens without MLflow, :mod:`components.tracking.recorder`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.addresses import named
from components.core.digests import digest_value

if TYPE_CHECKING:
    from mlflow import MlflowClient

TAG = "hearsight."
DATASET_DIGEST = 32
"""MLflow holds 36 characters of a dataset's digest; the whole of it is in the dataset's source."""


@dataclass(frozen=True)
class Record:
    """All there is to tell about one stage's run, JSON-able; ``error`` is empty for a finished one."""

    dataset: str
    stage: str
    digest: str = ""
    manifest_md5: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    upstream: dict[str, Any] = field(default_factory=dict)
    """The parameters of the stages before, so that two runs compare by whatever setting of the chain differs."""
    params_sha256: str = ""
    code_sha256: str = ""
    parents: list[dict[str, str]] = field(default_factory=list)
    counts: dict[str, Any] = field(default_factory=dict)
    metrics: list[tuple[str, float, int | None]] = field(default_factory=list)
    rows: list[tuple[str, dict[str, str], dict[str, float]]] = field(default_factory=list)
    """Lines of a table, each a run below this one: name, parameters, figures."""
    commit: str = ""
    dirty: bool = False
    flow_run: str = ""
    pipeline_run: str = ""
    engine: str = ""
    tracker: str = ""
    """Which tracker the stage's environment named: ``tracking_queue.tracker_key``."""
    files: str = ""
    """The folder below the root that keeps the output's files to log; empty when there is none."""
    started: float = 0.0
    ended: float = 0.0
    error: str = ""

    @property
    def name(self) -> str:
        """The run's name, which carries the output's digest."""
        return run_name(self.dataset, self.stage, self.digest or "failed")

    @property
    def identity(self) -> str:
        """Equal for records that would tell the same: the same output of the same code, parameters and inputs."""
        what = (self.dataset, self.stage, self.digest, self.params_sha256, self.code_sha256, self.parents, self.error)
        return digest_value([*what, self.started if self.error else 0])


def run_name(dataset: str, stage: str, digest: str) -> str:
    """What a run that made the output ``digest`` is called; a matrix's runs, which share an experiment, say of which cell."""
    _, cell = named(dataset) if "/" in dataset else ("", "")
    return f"{stage} {cell}@{digest[:8]}" if cell else f"{stage}@{digest[:8]}"


def experiment_name(dataset: str) -> str:
    """The experiment that holds the runs of a dataset."""
    return dataset.partition("/")[0]


def tracking_uri(root: Path) -> str:
    """``MLFLOW_TRACKING_URI``, or SQLite in the project."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{(root / 'mlflow.db').resolve()}"


def connect(root: Path) -> MlflowClient:
    """A client of the project's tracker; imports MLflow (seconds)."""
    for name, value in {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
        "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
        "GIT_PYTHON_REFRESH": "quiet",
    }.items():
        os.environ.setdefault(name, value)
    import mlflow

    for logger in ("alembic", "mlflow", "mlflow.store.db.utils"):
        logging.getLogger(logger).setLevel(logging.ERROR)
    uri = tracking_uri(root)
    mlflow.set_tracking_uri(uri)
    mlflow.set_registry_uri(uri)
    return mlflow.MlflowClient(uri, uri)


def experiment_id(client: MlflowClient, root: Path, dataset: str) -> str:
    """The experiment of a dataset, made when it is not there; the cells of a matrix share theirs, to be compared."""
    dataset = experiment_name(dataset)
    if found := client.get_experiment_by_name(dataset):
        return str(found.experiment_id)
    ours = tracking_uri(root).startswith("sqlite:")
    return str(
        client.create_experiment(dataset, artifact_location=(root / "mlartifacts" / dataset).resolve().as_uri() if ours else None)
    )


def dataset_of(parent: Mapping[str, str]) -> tuple[str, str]:
    """The name and the whole digest under which a parent is an MLflow dataset."""
    return parent.get("output", parent["name"]), parent.get("manifest_sha256") or parent["digest"]
