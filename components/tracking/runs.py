"""Writing of a stage's run to MLflow: name, tags, parameters, metrics, datasets and files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.addresses import LINEAGE, lineage_path
from components.core.digests import canonical_json, digest_value, sha256_file
from components.core.params import dotted
from components.core.records import MODEL_STAGES, SEARCH_STAGE
from components.tracking.models import log_models, log_search
from components.tracking.rated_models import log_ratings
from components.tracking.record import DATASET_DIGEST, TAG, Record, dataset_of, experiment_id, run_name

if TYPE_CHECKING:
    from mlflow import MlflowClient

    from components.core.manifest import Manifest

FIGURES = (".png", ".svg", ".html", ".md", ".csv", ".tsv", ".json")
"""Suffixes of the files of an output that are logged, up to :data:`MAX_FILE_BYTES` each."""
USAGE = "operations/"
"""Prefix of the metrics of a run's costs; MLflow shows them as one group of charts."""
MAX_FILE_BYTES = 20_000_000


def log_record(client: MlflowClient, root: Path, record: Record) -> str:
    """Log one record and return the id of its run; an existing run of the record is reused."""
    experiment = experiment_id(client, root, record.dataset)
    identity = record.identity
    if known := _find_logged(client, experiment, identity):
        _log_usage(client, known, record)  # the same result again: a further point over time
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
    _log_inputs(client, run_id, record)
    _log_rows(client, experiment, run_id, record)
    if record.subjects:
        log_ratings(client, run_id, record)
    out = root / (record.files or f"data/{record.dataset}/{record.stage}")
    manifest = out / "manifest.json"
    if manifest.is_file() and sha256_file(manifest) == record.digest:
        _log_files(client, run_id, out)
        if record.stage in MODEL_STAGES:
            log_models(client, run_id, out, record)
        if record.stage == SEARCH_STAGE:
            log_search(client, run_id, out, record)
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
    source = {
        "mlflow.source.git.commit": record.commit,
        "mlflow.source.name": f"hearsight run {record.stage} --dataset {record.dataset}",
    }
    return {f"{TAG}{name}": value for name, value in tags.items() if value} | {
        name: value for name, value in source.items() if value
    }


def _find_logged(client: MlflowClient, experiment: str, identity: str) -> str:
    """Return the id of the ended run with this identity, or ''; a run whose logging was interrupted is ended as killed."""
    for run in client.search_runs([experiment], f"tags.`{TAG}identity` = '{identity}'"):
        if run.info.status in ("FINISHED", "FAILED"):
            return str(run.info.run_id)
        client.set_terminated(run.info.run_id, "KILLED")
    return ""


def log_batches(
    client: MlflowClient, run_id: str, settings: Mapping[str, Any], numbers: Sequence[tuple[str, float, int | None]], now: int
) -> None:
    """Log parameters and metrics within MLflow's limits of length, and of 100 and 1000 for each request."""
    from mlflow.entities import Metric, Param  # here: takes seconds

    params = [Param(name[:250], value[:6000]) for name, value in flatten(settings)]
    metrics = [Metric(metric_name(name), value, now, step or 0) for name, value, step in numbers]
    for start in range(0, len(params), 100):
        client.log_batch(run_id, params=params[start : start + 100])
    for start in range(0, len(metrics), 1000):
        client.log_batch(run_id, metrics=metrics[start : start + 1000])


def _log_numbers(client: MlflowClient, run_id: str, record: Record) -> None:
    numbers = list(record.metrics)
    for kind, bucket in record.counts.items():
        numbers.append((f"{kind}.kept", float(bucket["kept"]), None))
        numbers += [(f"{kind}.dropped.{rule}", float(count), None) for rule, count in bucket["dropped"].items()]
    log_batches(client, run_id, {**record.upstream, **record.params}, numbers, int(record.ended * 1000))


def _log_usage(client: MlflowClient, run_id: str, record: Record) -> None:
    """Log the figures of a run under the same names for every stage; a run with the same result adds a point to each."""
    now = int(record.ended * 1000)
    earlier = client.get_metric_history(run_id, f"{USAGE}seconds") if record.usage else []
    if record.usage and now not in [point.timestamp for point in earlier]:
        points = [(f"{USAGE}{name}", value, len(earlier)) for name, value in record.usage.items()]
        log_batches(client, run_id, {}, points, now)


def _log_rows(client: MlflowClient, experiment: str, run_id: str, record: Record) -> None:
    """Log each row of the record as a finished run nested under ``run_id``, so that the UI compares rows."""
    now = int(record.ended * 1000)
    for name, params, figures in record.rows:
        tags = {"mlflow.parentRunId": run_id, f"{TAG}row_of": record.digest, f"{TAG}stage": f"{record.stage} row"}
        row = client.create_run(experiment, start_time=now, run_name=name, tags=tags)
        log_batches(client, row.info.run_id, params, [(metric, value, 0) for metric, value in figures.items()], now)
        client.set_terminated(row.info.run_id, "FINISHED", now)


def metric_name(name: str) -> str:
    """Return a name that MLflow accepts: letters, digits and ``_-./ :`` (``R@10`` becomes ``R_at_10``)."""
    return "".join(c if c.isalnum() or c in "_-./ :" else "_at_" if c == "@" else "_" for c in name)[:250]


def flatten(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield nested settings as (``a.b``, text), so that the UI compares runs by setting."""
    for name, value in dotted(params):
        yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _log_inputs(client: MlflowClient, run_id: str, record: Record) -> None:
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


def files_to_log(stage: str, manifest: Manifest) -> list[str]:
    """Return the relative paths of the files of an output that :func:`log_record` reads."""
    all_files = stage in MODEL_STAGES or stage == SEARCH_STAGE
    names = ["manifest.json", LINEAGE]
    names += [entry.path for entry in manifest.files if all_files or _is_figure(entry.path, entry.bytes)]
    return names + [f"shards/{shard.name}.parquet" for shard in manifest.shards if stage in MODEL_STAGES]


def _is_figure(path: str, size: int) -> bool:
    return Path(path).suffix in FIGURES and size <= MAX_FILE_BYTES


def _log_files(client: MlflowClient, run_id: str, out: Path) -> None:
    client.log_artifact(run_id, str(out / "manifest.json"), "output")
    lineage = out / LINEAGE if (out / LINEAGE).is_file() else lineage_path(out)
    client.log_text(run_id, lineage.read_text(encoding="utf-8"), f"output/{LINEAGE}")
    for entry in json.loads((out / "manifest.json").read_bytes())["files"]:
        path = out / entry["path"]
        if _is_figure(entry["path"], entry["bytes"]) and path.is_file():
            client.log_artifact(run_id, str(path), "/".join(["files", *Path(entry["path"]).parts[:-1]]))
