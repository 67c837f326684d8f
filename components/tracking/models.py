"""Trained models in MLflow: loadable LoggedModels and versions in the registry.

A LoggedModel holds the files of the training stage's output (weights and configuration) byte for byte, loaded by
:mod:`components.tracking.served`; nothing is pickled. The registered model ``<dataset>-<kind>`` has a version for each weights
file, and the alias ``best`` is on the seed with the best selection metric.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.records import MODEL
from components.core.shards import read_table
from components.tracking.record import DATASET_DIGEST, TAG, Record, dataset_of

if TYPE_CHECKING:
    from mlflow import MlflowClient

LOADER = "components.tracking.served"
NEEDS = ("torch", "safetensors", "numpy", "mlflow")
BEST = "best"


def log_models(client: MlflowClient, run_id: str, out: Path, record: Record) -> None:
    """Log and register every model of a training output; existing versions are kept."""
    rows: list[dict[str, Any]] = []
    for shard in sorted((out / "shards").glob("*.parquet")):
        rows += read_table(shard, MODEL.names).to_pylist()
    versions = {row["key"]: _version(client, run_id, out, record, row) for row in rows}
    for kind in sorted({row["kind"] for row in rows}):
        best = max((row for row in rows if row["kind"] == kind), key=lambda row: (row["validation"], -row["seed"]))
        client.set_registered_model_alias(registered_name(record.dataset, kind), BEST, versions[best["key"]])


def registered_name(dataset: str, kind: str) -> str:
    """Return the registered model's name for a dataset and a kind of model."""
    return f"{dataset.rpartition('/')[2]}-{kind}"


def _version(client: MlflowClient, run_id: str, out: Path, record: Record, row: dict[str, Any]) -> str:
    """Return the registry's version of these weights; creates it when it is missing."""
    tags = {
        f"{TAG}key": row["key"],
        f"{TAG}weights_sha256": row["weights_sha256"],
        f"{TAG}weights": Path(row["weights"]).name,
        f"{TAG}output_digest": record.digest,
        f"{TAG}seed": str(row["seed"]),
    }
    return version_of(client, run_id, record.dataset, row["kind"], tags, lambda: _log(client, run_id, out, record, row, tags))


def version_of(client: MlflowClient, run_id: str, dataset: str, kind: str, tags: dict[str, str], log: Callable[[], str]) -> str:
    """Return the registry's version of the model with these tags; when there is none, of the model that ``log`` logs."""
    from mlflow.exceptions import MlflowException  # here: takes seconds

    name = registered_name(dataset, kind)
    try:
        client.create_registered_model(name, {f"{TAG}dataset": dataset, f"{TAG}kind": kind})
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    for registered in client.search_model_versions(f"name = '{name}'"):
        identity = (f"{TAG}weights_sha256", f"{TAG}output_digest", f"{TAG}key")
        if all(registered.tags.get(tag) == tags[tag] for tag in identity):
            return str(registered.version)
    model_id = log()
    created = client.create_model_version(name, f"models:/{model_id}", run_id, tags=tags, model_id=model_id)
    # By this tag the UI links the LoggedModel to its version.
    client.set_logged_model_tags(model_id, {"mlflow.modelVersions": json.dumps([{"name": name, "version": created.version}])})
    return str(created.version)


def _log(client: MlflowClient, run_id: str, out: Path, record: Record, row: dict[str, Any], tags: dict[str, str]) -> str:
    import mlflow  # here: takes seconds

    folder = (out / row["weights"]).parent
    with mlflow.start_run(run_id=run_id):
        try:
            info = mlflow.pyfunc.log_model(
                name=row["key"],
                loader_module=LOADER,
                data_path=str(folder),
                pip_requirements=requirements(NEEDS),
                tags=tags,
                params={"seed": str(row["seed"]), "parameters": str(row["parameters"]), "steps": str(row["steps"])},
                model_type=row["kind"],
            )
        finally:
            leave_running(mlflow)
    parents = {parent["name"]: parent for parent in record.parents}
    name, digest = dataset_of(parents["input"]) if "input" in parents else (record.dataset, "")
    shared = {"step": row["best_epoch"], "dataset_name": name, "dataset_digest": digest[:DATASET_DIGEST]}
    client.log_metric(run_id, f"{row['key']}/selected", row["validation"], model_id=info.model_id, **shared)
    return str(info.model_id)


def leave_running(mlflow: Any) -> None:
    """Detach from the run without ending it; it ends once everything is logged."""
    mlflow.end_run("RUNNING")


def requirements(names: Iterable[str]) -> list[str]:
    """Return the installed packages among ``names`` with their versions, as requirements."""
    pinned = []
    for name in names:
        try:
            pinned.append(f"{name}=={version(name).partition('+')[0]}")
        except PackageNotFoundError:
            continue
    return pinned
