"""Figures of human ratings as metrics of the rated models' LoggedModels and of the rated dataset.

A row of ``evaluate_ratings`` names its model as tables do: ``<training set>-<network>-<seed>``, or ``<row>-<seed>`` of a dual
encoder. The outputs that hold the models are parents of the evaluations that the ratings were compared with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.addresses import lineage_path, parse_output_name
from components.core.records import MODEL_STAGES
from components.tracking.models import registered_name
from components.tracking.record import DATASET_DIGEST, TAG, Record, dataset_of

if TYPE_CHECKING:
    from mlflow import MlflowClient

STAGE = "evaluate_ratings"
EVALUATIONS = ("captioners", "retrieval")
"""Inputs that are evaluations of models."""
KINDS = {"train_captioner": "captioner"}
"""Stage → kind of its registered model; others hold dual encoders."""
PREFIX = "human"
"""Before the names of the metrics, since a model has automatic ones too."""


def find_parents(root: Path, stage: str, parents: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the outputs that a run's figures are about, as parents of lineages: models, and the rated dataset as ``rated``.

    Only ratings have such figures. They are found when the stage ends: lineages may be of a newer run when it is logged.
    """
    if stage != STAGE:
        return []
    named = {parent["name"]: parent for parent in parents}
    found = []
    for name in EVALUATIONS:
        of_evaluation = _parents(root, named.get(name))
        found += [parent for parent in of_evaluation if parse_output_name(parent.get("output", ""))[1] in MODEL_STAGES]
    rated = [parent | {"name": "rated"} for parent in _parents(root, named.get("items")) if parent["name"] == "captions"]
    return [*found, *rated]


def _parents(root: Path, output: Mapping[str, str] | None) -> list[dict[str, str]]:
    """Return the parents of an output; none where its lineage is missing or of another output."""
    if not output or "output" not in output:
        return []
    try:
        lineage = json.loads(lineage_path(root / "data" / output["output"]).read_bytes())
    except (OSError, ValueError):
        return []
    return list(lineage["parents"]) if lineage["manifest_sha256"] == output["manifest_sha256"] else []


def log_ratings(client: MlflowClient, run_id: str, record: Record) -> None:
    """Log each row's figures on its model, with the rated dataset; rows of the dataset on the dataset alone."""
    rated = next((parent for parent in record.subjects if parent["name"] == "rated"), None)
    name, digest = dataset_of(rated) if rated else (record.dataset, record.digest)
    digest = digest[:DATASET_DIGEST]
    models = dict(_models(client, record))
    for _, params, figures in record.rows:
        source, table = params.get("source", ""), params.get("table", "")
        model_id = models.get(source) if table in ("model", "retrieval") else None
        if model_id is None and table not in ("dataset", "truth"):
            continue  # a model that is not in this registry
        part = params.get("direction") or (f"truth_{params['crop']}" if table == "truth" else "")
        for figure, value in figures.items():
            metric = "/".join(filter(None, (PREFIX, part, figure)))
            client.log_metric(run_id, metric, value, dataset_name=name, dataset_digest=digest, model_id=model_id)


def _models(client: MlflowClient, record: Record) -> Iterator[tuple[str, str]]:
    """Yield (name in tables, id of the LoggedModel) of every registered model of the evaluations' parents."""
    for parent in record.subjects:
        dataset, stage = parse_output_name(parent.get("output", ""))
        if stage not in MODEL_STAGES:
            continue
        name = registered_name(dataset, KINDS.get(stage, "dual_encoder"))
        for version in client.search_model_versions(f"name = '{name}'"):
            tags: dict[str, Any] = version.tags
            if tags.get(f"{TAG}output_digest") == parent["manifest_sha256"]:
                cell = f"{dataset.rpartition('/')[2]}-{tags[f'{TAG}seed']}"
                # MLflow's SQL store keeps the id in the version's source only.
                model_id = version.model_id or str(version.source).removeprefix("models:/")
                yield (cell if stage in KINDS else tags[f"{TAG}key"]), model_id
