"""Records finished and failed stages for MLflow. The stage's output never depends on it, nor on its being there.

One run a stage, in the experiment named like the dataset, called ``<stage>@<first 8 of the output's digest>``. A stage
only writes a record under ``.hearsight/runs``, durably, with hard links to the files that are to be logged; one background
process (:mod:`components.tracking.logger`) logs the records in order and removes each once MLflow has it. A tracker
that is away, or a kill at any moment, loses nothing, and logging a record twice changes nothing. Whoever reads MLflow calls
:func:`flush` or :func:`flush_or_warn` first. The runs themselves: :mod:`components.tracking.runs`; models:
:mod:`components.tracking.models`. Reading back: :mod:`components.tracking.lineage`.
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

from components.core.addresses import LINEAGE, lineage_path
from components.core.digests import digest_value
from components.tracking.logger import ensure_logger
from components.tracking.queue import flush, last_failure, one_line, put, sole_client, waiting
from components.tracking.record import TAG, Record, connect, experiment_id, experiment_name, run_name
from components.tracking.runs import files_to_log, log_study

__all__ = [
    "close_pipeline",
    "experiment_name",
    "flush",
    "flush_or_warn",
    "open_pipeline",
    "record_failure",
    "record_run",
    "record_study",
    "run_name",
]

if TYPE_CHECKING:
    from mlflow import MlflowClient

    from components.execution.runner import StageResult

SWITCH = "HEARSIGHT_TRACKING"
"""Environment variable; ``off``: nothing is recorded; ``queue``: the record is written and nobody is started to log it; ``now``:
the stage logs by itself; otherwise the background process does."""


def record_run(result: StageResult) -> str | None:
    """Record a finished stage.

    Returns:
        With ``HEARSIGHT_TRACKING=now`` the MLflow run's id, or None when MLflow cannot be reached: one line of warning, and
        the record is kept. Otherwise None.
    """
    if os.environ.get(SWITCH) == "off":
        return None
    manifest, lineage = result.manifest, result.lineage
    record = Record(
        **_surroundings(result.root, result.dataset, result.stage, float(getattr(result, "started", 0) or 0)),
        digest=manifest.digest,
        manifest_md5=hashlib.md5(manifest.to_bytes(), usedforsecurity=False).hexdigest(),
        params=lineage["params"],
        upstream=_upstream(result.root, result.dataset, lineage["parents"]),
        params_sha256=lineage["params_sha256"],
        code_sha256=lineage["code_sha256"],
        parents=lineage["parents"],
        counts=manifest.counts,
        metrics=list(result.metrics),
        rows=list(result.rows),
        engine=lineage["engine"],
    )
    return _tell(
        result.root,
        record,
        [
            (name, lineage_path(result.out) if name == LINEAGE else result.out / name)
            for name in files_to_log(result.stage, manifest)
        ],
    )


def record_failure(root: Path, dataset: str, stage: str, params: Mapping[str, Any], message: str) -> str | None:
    """Record a stage that failed, with its one line of error; returns as :func:`record_run`."""
    if os.environ.get(SWITCH) == "off":
        return None
    plain = dict(params)
    record = Record(
        **_surroundings(root, dataset, stage, 0), params=plain, params_sha256=digest_value(plain), error=message[:4000]
    )
    return _tell(root, record)


def record_study(
    root: Path,
    dataset: str,
    name: str,
    params: Mapping[str, Any],
    metrics: Sequence[tuple[str, float, int | None]],
    files: Sequence[Path],
) -> str | None:
    """Tell MLflow of a study of a dataset that is no stage: its parameters, figures (name, value, step) and files.

    Returns:
        The run's id, of the run that holds the same files already when there is one; None when MLflow cannot be reached.
    """
    if os.environ.get(SWITCH) == "off":
        return None
    try:
        with _client(root) as client:
            return log_study(client, root, dataset, name, params, metrics, files)
    except Exception as error:  # the study is written: the tracker is no reason to fail
        _warn(f"{dataset}/{name} is not in MLflow ({one_line(error)})")
        return None


def open_pipeline(root: Path, datasets: list[str], flow_run: str) -> dict[str, str]:
    """Open a parent run a dataset for a pipeline: dataset → MLflow run id; empty when MLflow cannot be reached.

    Hand a stage its dataset's id in ``HEARSIGHT_PIPELINE_RUN`` and its run is nested under it.
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
    except Exception as error:  # the tracker is never a reason to stop
        _warn(f"the pipeline is not in MLflow ({one_line(error)})")
        return {}


def close_pipeline(root: Path, runs: Mapping[str, str], *, finished: bool) -> None:
    """Close what :func:`open_pipeline` opened, once the stages' own runs are logged."""
    flush_or_warn(root)
    try:
        with _client(root) as client:
            for run_id in runs.values():
                client.set_terminated(run_id, "FINISHED" if finished else "FAILED")
    except Exception as error:
        _warn(f"the pipeline's end is not in MLflow ({one_line(error)})")


def flush_or_warn(root: Path) -> None:
    """Log everything that waits, for a command that reads MLflow; a tracker that is away is one line of warning."""
    if os.environ.get(SWITCH) == "off":
        return
    try:
        flush(root)
    except Exception as error:  # the command goes on with what MLflow has
        _warn(f"{len(waiting(root))} stage runs are not in MLflow ({one_line(error)}); kept in .hearsight/runs")


def start_logger(root: Path) -> None:
    """Start the background process when something waits for it, for stages that could not (``HEARSIGHT_TRACKING=queue``)."""
    if os.environ.get(SWITCH) in ("off", "queue") or not waiting(root):
        return
    try:
        ensure_logger(root)
    except Exception as error:  # as for a stage
        _warn(f"stage runs are not in MLflow yet ({one_line(error)}); kept in .hearsight/runs")


def _tell(root: Path, record: Record, files: Sequence[tuple[str, Path]] = ()) -> str | None:
    put(root, record, files)
    try:
        if os.environ.get(SWITCH) == "now":
            return flush(root)[-1]
        if line := last_failure(root):
            _warn(f"{len(waiting(root))} stage runs are not in MLflow yet ({line}); see .hearsight/tracking.log")
        if os.environ.get(SWITCH) != "queue":
            ensure_logger(root)
    except Exception as error:  # the stage is finished: MLflow's troubles of any kind must not undo that
        what = f"{record.dataset}/{record.stage} is finished but not in MLflow"
        _warn(f"{what} ({one_line(error)}); kept in .hearsight/runs, logged with the next stage")
    return None


def _warn(line: str) -> None:
    print(f"hearsight: warning: {line}", file=sys.stderr, flush=True)


def _surroundings(root: Path, dataset: str, stage: str, started: float) -> dict[str, Any]:
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
    """The parameters of every stage this one's inputs came through, by stage (another dataset's as ``dataset/stage``)."""
    found: dict[str, Any] = {}
    ahead = [parent["output"] for parent in parents if "output" in parent]
    while ahead:
        name = ahead.pop()
        path = lineage_path(root / "data" / name)
        if name.removeprefix(f"{dataset}/") not in found and path.is_file():
            lineage = json.loads(path.read_bytes())
            found[name.removeprefix(f"{dataset}/")] = lineage["params"]
            ahead += [parent["output"] for parent in lineage["parents"] if "output" in parent]
    return found


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
