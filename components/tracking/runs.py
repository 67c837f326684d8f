"""One stage's run as MLflow holds it: name, tags, parameters, metrics, datasets, files.

What of this is written when, and what happens when MLflow is away, is :mod:`components.tracking.recorder`'s.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.addresses import LINEAGE, lineage_path
from components.core.digests import canonical_json, digest_value
from components.core.records import MODEL_STAGES, SEARCH_STAGE
from components.tracking.models import log_models
from components.tracking.record import DATASET_DIGEST, TAG, Record, dataset_of, experiment_id, run_name
from components.tracking.search_models import log_search

if TYPE_CHECKING:
    from mlflow import MlflowClient

    from components.core.manifest import Manifest

FIGURES = (".png", ".svg", ".html", ".md", ".csv", ".tsv", ".json")
"""Files of an output that are also shown in MLflow, up to :data:`LARGEST` bytes each."""
LARGEST = 20_000_000


def log_record(client: MlflowClient, root: Path, record: Record) -> str:
    """Log one record, or find the run that holds it already."""
    experiment = experiment_id(client, root, record.dataset)
    identity = record.identity
    for run in client.search_runs([experiment], f"tags.`{TAG}identity` = '{identity}'"):
        if run.info.status in ("FINISHED", "FAILED"):
            return str(run.info.run_id)
        client.set_terminated(run.info.run_id, "KILLED")
    parent = {"mlflow.parentRunId": record.pipeline_run} if record.pipeline_run else {}
    tags = {f"{TAG}identity": identity, **_tags(record), **parent}
    started = int(record.started * 1000)
    run_id = str(client.create_run(experiment, start_time=started, run_name=record.name, tags=tags).info.run_id)
    _log_numbers(client, run_id, record)
    if record.error:
        client.set_terminated(run_id, "FAILED", int(record.ended * 1000))
        return run_id
    _log_inputs(client, run_id, record)
    _log_rows(client, experiment, run_id, record)
    out = root / (record.files or f"data/{record.dataset}/{record.stage}")
    if _still_there(out, record.digest):
        _log_files(client, run_id, out)
        if record.stage in MODEL_STAGES:
            log_models(client, run_id, out, record)
        if record.stage == SEARCH_STAGE:
            log_search(client, run_id, out, record)
    else:
        # A record without files of its own, logged late: something else lies there by now.
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
    """Log a study that is no stage, or find the run that holds the same files already."""
    from mlflow.entities import Metric, Param

    experiment = experiment_id(client, root, dataset)
    digest = digest_value([name, dict(params), [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]])
    for run in client.search_runs([experiment], f"tags.`{TAG}identity` = '{digest}'"):
        if run.info.status == "FINISHED":
            return str(run.info.run_id)
        client.set_terminated(run.info.run_id, "KILLED")
    tags = {f"{TAG}identity": digest, f"{TAG}study": name, f"{TAG}dataset": dataset}
    run = client.create_run(experiment, run_name=run_name(dataset, name, digest), tags=tags)
    run_id, now = str(run.info.run_id), int(run.info.start_time)
    told = [Param(key[:250], value[:6000]) for key, value in flatten(params)]
    numbers = [Metric(metric_name(key), value, now, step or 0) for key, value, step in metrics]
    for at in range(0, len(told), 100):
        client.log_batch(run_id, params=told[at : at + 100])
    for at in range(0, len(numbers), 1000):
        client.log_batch(run_id, metrics=numbers[at : at + 1000])
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
        "parents": canonical_json(record.parents),
        "params_sha256": record.params_sha256,
        "code_sha256": record.code_sha256,
        "flow_run": record.flow_run,
        "engine": record.engine,
        "dirty": "yes" if record.dirty else "no",
        "error": record.error,
    }
    source = {
        "mlflow.source.git.commit": record.commit,
        "mlflow.source.name": f"hearsight run {record.stage} --dataset {record.dataset}",
    }
    return {f"{TAG}{name}": value for name, value in tags.items() if value} | {
        name: value for name, value in source.items() if value
    }


def _log_numbers(client: MlflowClient, run_id: str, record: Record) -> None:
    from mlflow.entities import Metric, Param

    now = int(record.ended * 1000)
    numbers = list(record.metrics)
    for kind, bucket in record.counts.items():
        numbers.append((f"{kind}.kept", float(bucket["kept"]), None))
        numbers += [(f"{kind}.dropped.{rule}", float(count), None) for rule, count in bucket["dropped"].items()]
    metrics = [Metric(metric_name(name), value, now, step or 0) for name, value, step in numbers]
    params = [Param(name[:250], value[:6000]) for name, value in flatten({**record.upstream, **record.params})]
    for at in range(0, len(params), 100):
        client.log_batch(run_id, params=params[at : at + 100])
    for at in range(0, len(metrics), 1000):
        client.log_batch(run_id, metrics=metrics[at : at + 1000])


def _log_rows(client: MlflowClient, experiment: str, run_id: str, record: Record) -> None:
    """A finished run below ``run_id`` for each row, so that the UI compares them by columns."""
    from mlflow.entities import Metric, Param

    now = int(record.ended * 1000)
    for name, params, figures in record.rows:
        tags = {"mlflow.parentRunId": run_id, f"{TAG}row_of": record.digest, f"{TAG}stage": f"{record.stage} row"}
        row = client.create_run(experiment, start_time=now, run_name=name, tags=tags)
        metrics = [Metric(metric_name(metric), value, now, 0) for metric, value in figures.items()]
        client.log_batch(row.info.run_id, metrics=metrics, params=[Param(key, value) for key, value in params.items()])
        client.set_terminated(row.info.run_id, "FINISHED", now)


def metric_name(name: str) -> str:
    """A name MLflow accepts: letters, digits and ``_-./ :`` (``R@10`` becomes ``R_at_10``)."""
    return "".join(c if c.isalnum() or c in "_-./ :" else "_at_" if c == "@" else "_" for c in name)[:250]


def flatten(params: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested settings as ``a.b`` → text, so that the UI compares runs setting by setting."""
    for name, value in params.items():
        if isinstance(value, Mapping) and value:
            yield from flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _log_inputs(client: MlflowClient, run_id: str, record: Record) -> None:
    from mlflow.entities import Dataset, DatasetInput, InputTag

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


def files_to_log(stage: str, manifest: Manifest) -> list[str]:
    """The files of an output, by their paths in it, that :func:`log_record` reads."""
    whole = stage in MODEL_STAGES or stage == SEARCH_STAGE
    names = ["manifest.json", LINEAGE]
    names += [entry.path for entry in manifest.files if whole or _is_shown(entry.path, entry.bytes)]
    return names + [f"shards/{shard.name}.parquet" for shard in manifest.shards if stage in MODEL_STAGES]


def _is_shown(path: str, size: int) -> bool:
    return Path(path).suffix in FIGURES and size <= LARGEST


def _still_there(out: Path, digest: str) -> bool:
    path = out / "manifest.json"
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def _log_files(client: MlflowClient, run_id: str, out: Path) -> None:
    client.log_artifact(run_id, str(out / "manifest.json"), "output")
    lineage = out / LINEAGE if (out / LINEAGE).is_file() else lineage_path(out)
    client.log_text(run_id, lineage.read_text(encoding="utf-8"), f"output/{LINEAGE}")
    for entry in json.loads((out / "manifest.json").read_bytes())["files"]:
        path = out / entry["path"]
        if _is_shown(entry["path"], entry["bytes"]) and path.is_file():
            client.log_artifact(run_id, str(path), "/".join(["files", *Path(entry["path"]).parts[:-1]]))
