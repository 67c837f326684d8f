"""What runs of stages and of models share when they are written to MLflow: parameters, metrics, datasets, settings, lineage."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.addresses import LINEAGE, lineage_path
from components.core.digests import canonical_json
from components.core.params import dotted
from components.tracking.record import DATASET_DIGEST, Record, dataset_of

if TYPE_CHECKING:
    from mlflow import MlflowClient

MOST = 25
"""Parameters of a run, and metrics of a stage's run: what a person compares. The rest is in artifacts."""
SETTINGS = "settings.json"
"""The artifact with all effective settings, of the stage and of those before it."""


def log_batches(
    client: MlflowClient, run_id: str, settings: Mapping[str, Any], numbers: Sequence[tuple[str, float, int | None]], now: int
) -> None:
    """Log the first :data:`MOST` settings and all metrics within MLflow's limits of length, and of 1000 for each request."""
    from mlflow.entities import Metric, Param  # here: takes seconds

    params = []
    for name, value in dotted(settings):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        params.append(Param(name[:250], text[:6000]))
    metrics = [Metric(metric_name(name), value, now, step or 0) for name, value, step in numbers]
    client.log_batch(run_id, params=params[:MOST])
    for start in range(0, len(metrics), 1000):
        client.log_batch(run_id, metrics=metrics[start : start + 1000])


def metric_name(name: str) -> str:
    """Return a name that MLflow accepts: letters, digits and ``_-./ :`` (``R@10`` becomes ``R_at_10``)."""
    return "".join(c if c.isalnum() or c in "_-./ :" else "_at_" if c == "@" else "_" for c in name)[:250]


def log_inputs(client: MlflowClient, run_id: str, record: Record) -> None:
    """Log the outputs that the stage read as datasets, by their digests."""
    from mlflow.entities import Dataset, DatasetInput, InputTag  # here: takes seconds

    inputs = []
    for parent in record.parents:
        name, digest = dataset_of(parent)
        source = canonical_json({"digest": digest, "uri": f"data/{name}/manifest.json" if "output" in parent else name})
        inputs.append(
            DatasetInput(
                Dataset(name, digest[:DATASET_DIGEST], "local", source), [InputTag("mlflow.data.context", parent["name"])]
            )
        )
    if inputs:
        client.log_inputs(run_id, inputs)


def log_settings(client: MlflowClient, run_id: str, record: Record) -> None:
    """Log all effective settings as :data:`SETTINGS`."""
    settings = {record.stage: record.params, **record.upstream}
    client.log_text(run_id, json.dumps(settings, indent=1, ensure_ascii=False), SETTINGS)


def log_lineage(client: MlflowClient, run_id: str, out: Path) -> None:
    """Log the lineage of an output, or of the linked files of one."""
    lineage = out / LINEAGE if (out / LINEAGE).is_file() else lineage_path(out)
    client.log_text(run_id, lineage.read_text(encoding="utf-8"), f"output/{LINEAGE}")


def source_tags(record: Record) -> dict[str, str]:
    """Return MLflow's own tags for what made a run: the commit and the command."""
    tags = {
        "mlflow.source.git.commit": record.commit,
        "mlflow.source.name": f"hearsight run {record.stage} --dataset {record.dataset}",
    }
    return {name: value for name, value in tags.items() if value}
