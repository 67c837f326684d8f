"""Scores of models by later stages, as metrics of the models' runs and LoggedModels; and of a rated dataset.

Evaluations and ratings name a model as tables do: ``<training set>-<network>-<seed>``, or ``<row>-<seed>`` of a dual encoder. The
outputs that hold the models are parents of the evaluations.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from components.core.addresses import lineage_path, parse_output_name
from components.core.records import MODEL_STAGES
from components.tracking.model_runs import model_name
from components.tracking.models import registered_name
from components.tracking.record import DATASET_DIGEST, TAG, Record, dataset_of
from components.tracking.writing import metric_name

if TYPE_CHECKING:
    from mlflow import MlflowClient

RATINGS = "evaluate_ratings"
EVALUATIONS = {"evaluate_captioners": "captioners", "evaluate_retrieval": "retrieval"}
"""Stage that scores models → its name among the inputs of the ratings."""
KINDS = {"train_captioner": "captioner"}
"""Stage → kind of its registered model; others hold dual encoders."""


def find_subjects(root: Path, stage: str, parents: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the outputs that a run's scores are about, as parents of lineages: models, and the rated dataset as ``rated``.

    They are found when the stage ends: lineages may be of a newer run when it is logged.
    """
    if stage in EVALUATIONS:
        return _models_among(parents)
    if stage != RATINGS:
        return []
    named = {parent["name"]: parent for parent in parents}
    found = [model for name in EVALUATIONS.values() for model in _models_among(_parents(root, named.get(name)))]
    rated = [parent | {"name": "rated"} for parent in _parents(root, named.get("items")) if parent["name"] == "captions"]
    return [*found, *rated]


def _models_among(parents: list[dict[str, str]]) -> list[dict[str, str]]:
    return [parent for parent in parents if parse_output_name(parent.get("output", ""))[1] in MODEL_STAGES]


def _parents(root: Path, output: Mapping[str, str] | None) -> list[dict[str, str]]:
    """Return the parents of an output; none where its lineage is missing or of another output."""
    if not output or "output" not in output:
        return []
    try:
        lineage = json.loads(lineage_path(root / "data" / output["output"]).read_bytes())
    except (OSError, ValueError):
        return []
    return list(lineage["parents"]) if lineage["manifest_sha256"] == output["manifest_sha256"] else []


def log_scores(client: MlflowClient, run_id: str, record: Record) -> None:
    """Log the scores of each model on its run and its LoggedModel; those of the rated dataset on the stage's run.

    Models that are not in this registry are left out.
    """
    rated = next((parent for parent in record.subjects if parent["name"] == "rated"), None)
    name, digest = dataset_of(rated) if rated else (record.dataset, record.digest)
    models = {known.name: known for known in _models(client, record)}
    for model, scores in record.scores:
        if model and model not in models:
            continue
        target = models[model] if model else _Model("", run_id, None)
        for score, value in scores.items():
            client.log_metric(
                target.run_id, metric_name(score), value,
                timestamp=int(record.ended * 1000), dataset_name=name, dataset_digest=digest[:DATASET_DIGEST],
                model_id=target.model_id,
            )  # fmt: skip


class _Model(NamedTuple):
    """A registered model: its name in tables, the run that it was registered by, and its LoggedModel."""

    name: str
    run_id: str
    model_id: str | None


def _models(client: MlflowClient, record: Record) -> Iterator[_Model]:
    """Yield every registered model of the record's subjects."""
    for parent in record.subjects:
        dataset, stage = parse_output_name(parent.get("output", ""))
        if stage not in MODEL_STAGES:
            continue
        registered = registered_name(dataset, KINDS.get(stage, "dual_encoder"))
        for version in client.search_model_versions(f"name = '{registered}'"):
            tags: dict[str, Any] = version.tags
            if tags.get(f"{TAG}output_digest") == parent["manifest_sha256"]:
                name = model_name(dataset, tags[f"{TAG}key"]) if stage in KINDS else tags[f"{TAG}key"]
                # MLflow's SQL store keeps the id in the version's source only.
                yield _Model(name, str(version.run_id), version.model_id or str(version.source).removeprefix("models:/"))
