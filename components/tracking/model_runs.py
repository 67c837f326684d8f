"""One MLflow run for each trained model: its settings, curves, scores, training data, files and registered version.

It is made when the training begins (:mod:`components.tracking.trainings`), or when its stage is logged, if the model is from the
cache; the same weights are found again. The runs are in experiments of their own, with the same names of parameters for all
models of a kind, so that MLflow compares any of them. Scores on test sets come from :mod:`components.tracking.model_scores`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.params import dotted
from components.tracking.record import CAPTIONERS, DATASET_DIGEST, RETRIEVAL, TAG, Record, dataset_of, experiment_id
from components.tracking.writing import log_batches, log_inputs, log_lineage, log_settings, source_tags

if TYPE_CHECKING:
    from mlflow import MlflowClient

MODEL = f"{TAG}model"
"""The tag that only runs of models have: ``<dataset>/<stage>/<key>``."""
TRAINING, WEIGHTS = f"{TAG}training", f"{TAG}weights_sha256"
"""Tags of a run: the training's progress file, and the digest of its weights once it has ended."""
OF_CAPTIONERS = (
    "encoder.name", "encoder.trained", "width", "layers", "heads", "feedforward", "pre_norm", "dropout", "label_smoothing",
    "min_count", "longest", "captions_per_image", "epochs", "batch", "optimiser", "learning_rate", "warm_up_steps",
    "decay_per_1000", "weight_decay", "clip_gradient", "self_critical.epochs",
)  # fmt: skip
OF_RETRIEVAL = (
    "loss", "percent", "start.model", "encoder.name", "speech", "image", "embedding", "scale", "dropout", "layers", "channels",
    "clips.frames", "clips.mask_coefficients", "clips.mask_frames", "matching", "epochs", "batch", "learning_rate",
    "warm_up_steps", "weight_decay", "training_pairs",
)  # fmt: skip
"""Parameters of a model's run beside ``set``, ``model``, ``seed`` and ``parameters``: names in its ``config.json``, without the
blocks ``settings``, ``settings.optimisation`` and ``network``."""


def model_name(dataset: str, key: str) -> str:
    """Return the name of a model in tables and of its run: ``english-t2t8x8-0``; ``spoken-mms-48-0``."""
    return f"{_training_set(dataset, key)}-{key}"


def _training_set(dataset: str, key: str) -> str:
    """Return the dataset of a model's stage; of a cell of a matrix (``…/english-t2t8x8``), its set."""
    return dataset.rpartition("/")[2].removesuffix(f"-{key.rpartition('-')[0]}")


def _experiment(client: MlflowClient, root: Path, record: Record) -> str:
    """Return the id of the experiment of the models that the record's stage trains."""
    return experiment_id(client, root, CAPTIONERS if record.stage == "train_captioner" else RETRIEVAL)


def start(client: MlflowClient, root: Path, record: Record, key: str, tags: Mapping[str, str], started: int) -> str:
    """Open the run of a model whose training begins, and return its id."""
    experiment = _experiment(client, root, record)
    model, _, seed = key.rpartition("-")
    about = {
        MODEL: f"{record.dataset}/{record.stage}/{key}",
        f"{TAG}stage": record.stage,
        f"{TAG}dataset": record.dataset,
        f"{TAG}key": key,
        f"{TAG}flow_run": record.flow_run,
        f"{TAG}dirty": "yes" if record.dirty else "no",
    }
    tags = {name: value for name, value in (about | source_tags(record) | dict(tags)).items() if value}
    run_id = str(client.create_run(experiment, started, tags, model_name(record.dataset, key)).info.run_id)
    params = {"set": _training_set(record.dataset, key), "model": model, "seed": seed}
    log_batches(client, run_id, params, [], started)
    return run_id


def complete(client: MlflowClient, root: Path, record: Record, out: Path, model: Mapping[str, Any], stage_run: str) -> str:
    """Write what is known of a trained model to its run, which stays open for its registration, and return the run's id.

    Args:
        out: the output of its stage, or the linked files of one.
        model: its row of the MODEL table.
        stage_run: the id of the stage's run.
    """
    found = {WEIGHTS: model["weights_sha256"], f"{TAG}output_digest": record.digest, f"{TAG}stage_run": stage_run}
    run_id = _find(client, root, record, model)
    if run_id is None:
        run_id = start(client, root, record, model["key"], {}, int(record.started * 1000))
    run = client.get_run(run_id)
    known = WEIGHTS in run.data.tags
    for name, value in found.items():
        client.set_tag(run_id, name, value)
    if known:
        return run_id
    folder = (out / model["weights"]).parent
    config = read_config(folder)
    numbers = [] if run.data.metrics else list(_curves(folder / "history.csv", model["steps"]))
    log_batches(client, run_id, _params(config) | {"parameters": model["parameters"]}, numbers, int(record.ended * 1000))
    log_inputs(client, run_id, record)
    log_settings(client, run_id, record)
    log_lineage(client, run_id, out)
    for name in ("config.json", "history.csv"):
        if (folder / name).is_file():
            client.log_artifact(run_id, str(folder / name))
    return run_id


def validated_on(record: Record) -> tuple[str, str]:
    """Return the name and the digest of the data that a model's validation score is of."""
    parents = {parent["name"]: parent for parent in record.parents}
    name, digest = dataset_of(parents["input"]) if "input" in parents else (record.dataset, "")
    return name, digest[:DATASET_DIGEST]


def _find(client: MlflowClient, root: Path, record: Record, model: Mapping[str, Any]) -> str | None:
    """Return the id of a model's run: that of the same weights, or that of the training that has just ended; None if none."""
    experiment = _experiment(client, root, record)
    key, name = model["key"], f"{record.dataset}/{record.stage}"
    queries = [f"tags.`{MODEL}` = '{name}/{key}' and tags.`{WEIGHTS}` = '{model['weights_sha256']}'"]
    trained = [Path(file).stem for file in record.trainings]
    queries += [f"tags.`{TRAINING}` = '{name}/{stem}'" for stem in trained if stem.rpartition("-")[0] == key]
    for query in queries:
        if runs := client.search_runs([experiment], query):
            return str(runs[0].info.run_id)
    return None


def read_config(folder: Path) -> dict[str, Any]:
    """Return the ``config.json`` of a model's folder; empty where there is none."""
    path = folder / "config.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _params(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters that the configuration has, in the order of the lists, under the last part of their names."""
    settings = config.get("settings", {})
    blocks = (config.get("network", {}), config, settings, settings.get("optimisation", {}))
    values = {name: value for block in blocks for name, value in dotted(block)}
    names = OF_CAPTIONERS if config.get("kind") == "captioner" else OF_RETRIEVAL
    return {_short(name): values.get(name, "none") for name in names} if settings else {}


def _short(name: str) -> str:
    """Return ``encoder`` for ``encoder.name``, ``mask_frames`` for ``clips.mask_frames``; blocks with one meaning stay."""
    block, _, last = name.rpartition(".")
    return block if last in ("name", "model") else last if block == "clips" else name


def _curves(history: Path, steps: int) -> Iterator[tuple[str, float, int]]:
    """Yield the curves of a model that was trained before its run was made, as its training would have logged them.

    The history has no steps: those of an epoch's end are exact where all epochs have as many.
    """
    if not history.is_file():
        return
    lines = list(csv.DictReader(io.StringIO(history.read_text(encoding="utf-8"))))
    for number, line in enumerate(lines, start=1):
        for column, name in {"epoch": "epoch", "loss": "epoch_loss", "validation": "validation", "reward": "reward"}.items():
            if line.get(column):
                yield name, float(line[column]), round(steps * number / len(lines))
