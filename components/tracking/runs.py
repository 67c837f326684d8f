"""Writing of a stage's run to MLflow: name, tags, settings, figures, datasets and files.

Its parameters are the settings that the dataset's file gives, and its metrics the first of its figures; what trained models are
and score is on their own runs (:mod:`components.tracking.model_runs`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.addresses import LINEAGE
from components.core.digests import canonical_json, digest_value, sha256_file
from components.core.records import MODEL_STAGES
from components.core.text_encoding import csv_text
from components.tracking.model_scores import log_scores
from components.tracking.models import log_models
from components.tracking.record import TAG, Record, experiment_id, run_name
from components.tracking.writing import MOST, SETTINGS, log_batches, log_inputs, log_lineage, log_settings, source_tags

if TYPE_CHECKING:
    from mlflow import MlflowClient

    from components.core.manifest import Manifest

FILES = (".png", ".svg", ".html", ".md", ".csv", ".tsv", ".json")
"""Suffixes of the files of an output that are logged, up to :data:`MAX_FILE_BYTES` each."""
USAGE = "operations/"
"""Prefix of the metrics of a run's costs; MLflow shows them as one group of charts."""
FIGURES = "figures.csv"
"""The artifact with every figure of a run, those that are no metrics too."""
MAX_FILE_BYTES = 20_000_000


def log_record(client: MlflowClient, root: Path, record: Record) -> str:
    """Log one record and return the id of its run; an existing run of the record is reused."""
    experiment = experiment_id(client, root, record.dataset)
    identity = record.identity
    if known := _find_logged(client, experiment, identity):
        _log_usage(client, known, record)  # the same result again: a further point over time
        log_scores(client, known, record)  # a model's scores are those of the last evaluation
        return known
    parent = {"mlflow.parentRunId": record.pipeline_run} if record.pipeline_run else {}
    tags = {f"{TAG}identity": identity, **_tags(record), **parent}
    started = int(record.started * 1000)
    run_id = str(client.create_run(experiment, start_time=started, run_name=record.name, tags=tags).info.run_id)
    _log_numbers(client, run_id, record)
    _log_usage(client, run_id, record)
    if record.error:
        client.set_terminated(run_id, "FAILED", int(record.ended * 1000))
        return run_id
    log_inputs(client, run_id, record)
    log_scores(client, run_id, record)
    out = root / (record.files or f"data/{record.dataset}/{record.stage}")
    manifest = out / "manifest.json"
    if manifest.is_file() and sha256_file(manifest) == record.digest:
        _log_files(client, run_id, out)
        if record.stage in MODEL_STAGES:
            log_models(client, root, run_id, out, record)
    else:
        # A record without linked files: the output was written again meanwhile.
        client.set_tag(run_id, f"{TAG}files", "the output had changed before its files could be logged")
    client.set_terminated(run_id, "FINISHED", int(record.ended * 1000))
    return run_id


def log_study(
    client: MlflowClient,
    root: Path,
    dataset: str,
    name: str,
    params: Mapping[str, Any],
    metrics: Sequence[tuple[str, float, int | None]],
    files: Sequence[Path],
) -> str:
    """Log a study that is not a stage and return the id of its run; an existing run with the same files is reused."""
    experiment = experiment_id(client, root, dataset)
    digest = digest_value([name, dict(params), [sha256_file(path) for path in files]])
    if known := _find_logged(client, experiment, digest):
        return known
    tags = {f"{TAG}identity": digest, f"{TAG}study": name, f"{TAG}dataset": dataset}
    run = client.create_run(experiment, run_name=run_name(dataset, name, digest), tags=tags)
    run_id, now = str(run.info.run_id), int(run.info.start_time)
    log_batches(client, run_id, params, metrics, now)
    client.log_dict(run_id, dict(params), SETTINGS)
    for path in files:
        client.log_artifact(run_id, str(path), "files")
    client.set_terminated(run_id, "FINISHED")
    return run_id


def _tags(record: Record) -> dict[str, str]:
    tags = {
        "stage": record.stage,
        "dataset": record.dataset,
        "output_digest": record.digest,
        "manifest_md5": record.manifest_md5,
        "lineage_md5": record.lineage_md5,
        "parents": canonical_json(record.parents),
        "params_sha256": record.params_sha256,
        "code_sha256": record.code_sha256,
        "flow_run": record.flow_run,
        "engine": record.engine,
        "dirty": "yes" if record.dirty else "no",
        "error": record.error,
    }
    return {f"{TAG}{name}": value for name, value in tags.items() if value} | source_tags(record)


def _find_logged(client: MlflowClient, experiment: str, identity: str) -> str:
    """Return the id of the ended run with this identity, or ''; a run whose logging was interrupted is ended as killed."""
    for run in client.search_runs([experiment], f"tags.`{TAG}identity` = '{identity}'"):
        if run.info.status in ("FINISHED", "FAILED"):
            return str(run.info.run_id)
        client.set_terminated(run.info.run_id, "KILLED")
    return ""


def _log_numbers(client: MlflowClient, run_id: str, record: Record) -> None:
    """Log the settings that the dataset gives, the first figures as metrics, and all of them as a table."""
    numbers = [(f"{kind}.kept", float(bucket["kept"]), None) for kind, bucket in record.counts.items()] + list(record.metrics)
    own_scores = sum(len(scores) for model, scores in record.scores if not model)  # logged by log_scores
    shown = list(dict.fromkeys(name for name, _, _ in numbers))[: MOST - len(record.usage) - own_scores]
    shown_numbers = [number for number in numbers if number[0] in shown]
    log_batches(client, run_id, record.given, shown_numbers, int(record.ended * 1000))
    log_settings(client, run_id, record)
    dropped = [
        (f"{kind}.dropped.{rule}", float(count), None)
        for kind, bucket in record.counts.items()
        for rule, count in bucket["dropped"].items()
    ]
    lines = [[name, f"{value:.6g}", "" if step is None else step] for name, value, step in (*numbers, *dropped)]
    if lines:
        client.log_text(run_id, csv_text(["figure", "value", "step"], lines), FIGURES)


def _log_usage(client: MlflowClient, run_id: str, record: Record) -> None:
    """Log the figures of a run under the same names for every stage; a run with the same result adds a point to each."""
    now = int(record.ended * 1000)
    earlier = client.get_metric_history(run_id, f"{USAGE}seconds") if record.usage else []
    if record.usage and now not in [point.timestamp for point in earlier]:
        points = [(f"{USAGE}{name}", value, len(earlier)) for name, value in record.usage.items()]
        log_batches(client, run_id, {}, points, now)


def files_to_log(stage: str, manifest: Manifest) -> list[str]:
    """Return the relative paths of the files of an output that :func:`log_record` reads."""
    trains = stage in MODEL_STAGES
    names = ["manifest.json", LINEAGE]
    names += [entry.path for entry in manifest.files if trains or _is_figure(entry.path, entry.bytes)]
    return names + [f"shards/{shard.name}.parquet" for shard in manifest.shards if trains]


def _is_figure(path: str, size: int) -> bool:
    return Path(path).suffix in FILES and size <= MAX_FILE_BYTES


def _log_files(client: MlflowClient, run_id: str, out: Path) -> None:
    client.log_artifact(run_id, str(out / "manifest.json"), "output")
    log_lineage(client, run_id, out)
    for entry in json.loads((out / "manifest.json").read_bytes())["files"]:
        path = out / entry["path"]
        if _is_figure(entry["path"], entry["bytes"]) and path.is_file():
            client.log_artifact(run_id, str(path), "/".join(["files", *Path(entry["path"]).parts[:-1]]))
