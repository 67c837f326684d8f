"""Output of a training stage: model files, the MODEL table, the ledger, training curves, and tracked metrics."""

from __future__ import annotations

import csv
import json
import shutil
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from components.core.digests import sha256_file
from components.core.ledger import kept, ledger_table
from components.core.records import MODEL
from components.models.model_files import config_bytes

if TYPE_CHECKING:
    from components.execution.stage import Job, Stage

FILES = ("weights.safetensors", "config.json", "history.csv")


def publish(stage: Stage, jobs: Sequence[Job], folders: Sequence[Path], about: Mapping[str, Any] | None = None) -> None:
    """List the models in the output, export ``curves.csv``, and remove the checkpoints.

    Args:
        jobs: one a model; its name is the model's key.
        folders: what each job left.
        about: further facts for every ``config.json``.
    """
    models: list[dict[str, Any]] = []
    curves = ["model,kind,seed,epoch,phase,loss,validation,reward"]
    for key, folder in sorted((job.name, folder) for job, folder in zip(jobs, folders, strict=True)):
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        for name in FILES:
            source: bytes | Path = config_bytes(config | about) if about and name == "config.json" else folder / name
            stage.write_file(f"models/{key}/{name}", source)
        kind, seed = config["kind"], config["seed"]
        models.append(
            {
                "key": key, "kind": kind, "seed": seed, "weights": f"models/{key}/weights.safetensors",
                "weights_sha256": sha256_file(folder / "weights.safetensors"), "parameters": config["parameters"],
                "steps": config["steps"], "best_epoch": config["best_epoch"], "validation": config["validation"],
            }
        )  # fmt: skip
        with (folder / "history.csv").open(encoding="utf-8") as handle:
            for line in csv.DictReader(handle):
                values = (line.get(name, "") for name in ("epoch", "phase", "loss", "validation", "reward"))
                curves.append(",".join([key, kind, str(seed), *values]))
    for row in dict.fromkeys(model["key"].rpartition("-")[0] for model in models):
        for name, value in _spread([model["validation"] for model in models if model["key"].rpartition("-")[0] == row]).items():
            stage.metric(f"{row}/{name}", value)
    ledger = (kept(row["key"], kind="model", detail=f"epoch {row['best_epoch']} of {row['steps']} steps") for row in models)
    stage.write_shard("00000", pa.Table.from_pylist(models, schema=MODEL), ledger_table(ledger))
    stage.export("curves.csv", ("\n".join(curves) + "\n").encode())
    # Every model is in the cache now, so the checkpoints are not needed.
    shutil.rmtree(stage.work, ignore_errors=True)


def _spread(best: list[float]) -> dict[str, float]:
    """Return the seeds' mean and, for several seeds, their standard deviation."""
    mean = {"best_validation": statistics.fmean(best)}
    return mean | ({"best_validation_sd": statistics.stdev(best)} if len(best) > 1 else {})
