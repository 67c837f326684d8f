"""Recording of stages for MLflow, when they finish or fail, and of trainings while they run. Outputs do not depend on it.

A stage only writes a record (:mod:`components.tracking.queue`); one background process (:mod:`components.tracking.logger`) logs
the records in order. Nothing is lost when the tracker is unreachable or a process is killed, and logging a record twice has no
effect. Commands that read MLflow call :func:`flush` or :func:`flush_or_warn` first.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.addresses import LINEAGE, lineage_path, main_project
from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.core.records import MODEL_STAGES
from components.tracking import trainings
from components.tracking.logger import ensure_logger
from components.tracking.model_scores import find_subjects
from components.tracking.queue import flush as flush
from components.tracking.queue import is_waiting, last_failure, one_line, put, sole_client, tracker_key, waiting
from components.tracking.record import TAG, Record, connect, experiment_id, run_name
from components.tracking.runs import files_to_log, log_study

if TYPE_CHECKING:
    from mlflow import MlflowClient

    from components.execution.runner import StageResult

SWITCH = "HEARSIGHT_TRACKING"
"""Environment variable; ``off``: record nothing; ``queue``: write the record only; ``now``: log it at the stage's end;
otherwise the background process logs it."""


def record_start(root: Path, dataset: str, stage: str, params: Mapping[str, Any]) -> None:
    """Have the progress of a stage's trainings logged while it runs; other stages have none. :func:`record_run` ends it."""
    if stage not in MODEL_STAGES:
        return
    if os.environ.get(SWITCH) == "off":
        return trainings.withdraw(root, dataset, stage)
    try:
        record = Record(**_run_context(root, dataset, stage, 0), params=dict(params), tracker=tracker_key(root))
        trainings.announce(root, record)
        if os.environ.get(SWITCH) not in ("queue", "now"):
            ensure_logger(main_project(root))
    except Exception as error:  # as in _submit
        _warn(f"the progress of {dataset}/{stage} is not in MLflow yet ({one_line(error)})")


def record_run(result: StageResult) -> str | None:
    """Record a finished stage.

    Returns:
        With ``HEARSIGHT_TRACKING=now`` the id of the MLflow run, or None when MLflow cannot be reached; it then warns and keeps
        the record. Otherwise None.
    """
    trainings.retire(result.root, result.dataset, result.stage)
    if os.environ.get(SWITCH) == "off":
        return None
    manifest, lineage = result.manifest, result.lineage
    record = Record(
        **_run_context(result.root, result.dataset, result.stage, float(getattr(result, "started", 0) or 0)),
        digest=manifest.digest,
        manifest_md5=hashlib.md5(manifest.to_bytes(), usedforsecurity=False).hexdigest(),
        lineage_md5=hashlib.md5(lineage_path(result.out).read_bytes(), usedforsecurity=False).hexdigest(),
        params=lineage["params"],
        given=dict(result.given),
        upstream=_upstream(result.root, result.dataset, lineage["parents"]),
        params_sha256=lineage["params_sha256"],
        code_sha256=lineage["code_sha256"],
        parents=lineage["parents"],
        subjects=find_subjects(result.root, result.stage, lineage["parents"]),
        counts=manifest.counts,
        metrics=list(result.metrics),
        scores=list(result.scores),
        usage=dict(result.usage),
        trainings=trainings.progress_files(result.root, result.dataset, result.stage),
        engine=lineage["engine"],
    )
    return _submit(
        result.root,
        record,
        [
            (name, lineage_path(result.out) if name == LINEAGE else result.out / name)
            for name in files_to_log(result.stage, manifest)
        ],
    )


def record_failure(root: Path, dataset: str, stage: str, params: Mapping[str, Any], message: str) -> str | None:
    """Record a failed stage with its error message; returns as :func:`record_run`.

    A record that cannot be written is a warning: the stage's own error, e.g. of the same full disk, is the one to read.
    """
    try:
        trainings.retire(root, dataset, stage)
        if os.environ.get(SWITCH) == "off":
            return None
        plain = dict(params)
        record = Record(
            **_run_context(root, dataset, stage, 0), params=plain, params_sha256=digest_value(plain), error=message[:4000]
        )
        return _submit(root, record)
    except (HearsightError, OSError) as error:
        _warn(f"the failure of {dataset}/{stage} is not in MLflow ({one_line(error)})")
        return None


def record_study(
    root: Path,
    dataset: str,
    name: str,
    params: Mapping[str, Any],
    metrics: Sequence[tuple[str, float, int | None]],
    files: Sequence[Path],
) -> str | None:
    """Log a study of a dataset that is not a stage: its parameters, metrics (name, value, step) and files.

    Returns:
        The id of the run, or of an existing run with the same files; None when MLflow cannot be reached.
    """
    if os.environ.get(SWITCH) == "off":
        return None
    try:
        with _client(root) as client:
            return log_study(client, root, dataset, name, params, metrics, files)
    except Exception as error:  # the study itself is complete
        _warn(f"{dataset}/{name} is not in MLflow ({one_line(error)})")
        return None


def open_pipeline(root: Path, datasets: list[str], flow_run: str) -> dict[str, str]:
    """Open a parent run for each dataset of a pipeline and return dataset → run id; empty when MLflow cannot be reached.

    A stage whose environment has the id as ``HEARSIGHT_PIPELINE_RUN`` logs a nested run.
    """
    try:
        with _client(root) as client:
            return {
                dataset: client.create_run(
                    experiment_id(client, root, dataset),
                    run_name=run_name(dataset, "pipeline", flow_run),
                    tags={f"{TAG}flow_run": flow_run},
                ).info.run_id
                for dataset in datasets
            }
    except Exception as error:  # the pipeline runs without the tracker
        _warn(f"the pipeline is not in MLflow ({one_line(error)})")
        return {}


def close_pipeline(root: Path, runs: Mapping[str, str], *, finished: bool) -> None:
    """Close the runs of :func:`open_pipeline` after the stages' runs are logged."""
    flush_or_warn(root)
    try:
        with _client(root) as client:
            for run_id in runs.values():
                client.set_terminated(run_id, "FINISHED" if finished else "FAILED")
    except Exception as error:
        _warn(f"the pipeline's end is not in MLflow ({one_line(error)})")


def flush_or_warn(root: Path) -> None:
    """Log all queued records, for a command that reads MLflow; warn in one line when MLflow cannot be reached."""
    if os.environ.get(SWITCH) == "off":
        return
    try:
        flush(root)
    except Exception as error:  # the command continues with the runs that MLflow has
        _warn(f"{len(waiting(root))} stage runs are not in MLflow ({one_line(error)}); kept in .hearsight/runs")


def start_logger(root: Path, *, training: bool = False) -> None:
    """Start the background process when something is queued, e.g. by stages with ``HEARSIGHT_TRACKING=queue``.

    Args:
        training: only when a training runs.
    """
    if os.environ.get(SWITCH) in ("off", "queue"):
        return
    try:
        if not (trainings.is_any_running(root, tracker_key(root)) if training else is_waiting(root)):
            return
        ensure_logger(main_project(root))
    except Exception as error:  # as in _submit
        _warn(f"stage runs are not in MLflow yet ({one_line(error)}); kept in .hearsight/runs")


def _submit(root: Path, record: Record, files: Sequence[tuple[str, Path]] = ()) -> str | None:
    """Queue a record and have it logged as :data:`SWITCH` says."""
    put(root, record, files)
    try:
        if os.environ.get(SWITCH) == "now":
            return flush(root)[-1]
        if line := last_failure(root):
            _warn(f"{len(waiting(root))} stage runs are not in MLflow yet ({line}); see .hearsight/tracking.log")
        if os.environ.get(SWITCH) != "queue":
            ensure_logger(main_project(root))
    except Exception as error:  # an error of MLflow must not fail the stage
        what = f"the run of {record.dataset}/{record.stage} is not in MLflow"
        _warn(f"{what} ({one_line(error)}); kept in .hearsight/runs, logged with the next stage")
    return None


def _warn(line: str) -> None:
    print(f"hearsight: warning: {line}", file=sys.stderr, flush=True)


def _run_context(root: Path, dataset: str, stage: str, started: float) -> dict[str, Any]:
    now = time.time()
    lines = _git(root, "status", "--porcelain=v2", "--branch", "--untracked-files=no").splitlines()
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), "")
    commit = "" if commit == "(initial)" else commit
    return {
        "dataset": dataset,
        "stage": stage,
        "commit": commit,
        "dirty": not commit or any(not line.startswith("#") for line in lines),
        "flow_run": os.environ.get("HEARSIGHT_FLOW_RUN", ""),
        "pipeline_run": os.environ.get("HEARSIGHT_PIPELINE_RUN", ""),
        "started": started or now,
        "ended": now,
    }


def _upstream(root: Path, dataset: str, parents: list[dict[str, str]]) -> dict[str, Any]:
    """Return stage → parameters of all ancestors; stages of other datasets as ``dataset/stage``."""
    params: dict[str, Any] = {}
    pending = [parent["output"] for parent in parents if "output" in parent]
    while pending:
        name = pending.pop()
        path = lineage_path(root / "data" / name)
        if name.removeprefix(f"{dataset}/") not in params and path.is_file():
            lineage = json.loads(path.read_bytes())
            params[name.removeprefix(f"{dataset}/")] = lineage["params"]
            pending += [parent["output"] for parent in lineage["parents"] if "output" in parent]
    return params


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


@contextmanager
def _client(root: Path) -> Iterator[MlflowClient]:
    with sole_client(root):
        yield connect(root)
