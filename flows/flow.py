"""The Prefect flow: one task for each stage of DVC's graph, read from dvc.yaml at every run.

A task runs ``dvc repro`` on one stage under a guard, so a cancelled or killed flow leaves no process behind. The pool in a
stage's ``meta`` limits the concurrent stages of the flow, and is a tag (``pool:gpu``) for a server's limits across flows. Exit
code 2 (bad input, a failed check) is not retried.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger, runtime, task
from prefect.context import FlowRunContext
from prefect.exceptions import MissingContextError
from prefect.futures import PrefectFuture, wait
from prefect.states import State
from prefect.task_runners import ThreadPoolTaskRunner

from components.core.errors import HearsightError
from components.core.graph import find_root, load_graph
from components.tracking import recorder
from flows.graph import StageTask, read_tasks
from flows.guard import TIMED_OUT, run_guarded
from flows.show import show_funnels, show_stage

POOLS = {"cpu": 1, "gpu": 1, "network": 2}
"""Pool → concurrent stages; one CPU stage uses all cores."""
MAX_THREADS = 256
RETRY_AFTER: list[float] = [10, 60, 300]
"""Seconds before the first, second and further retries."""
DVC = (sys.executable, "-m", "dvc")


class StageFailed(Exception):
    """A stage failed; ``refused`` when a retry with the same input would fail too."""

    def __init__(self, address: str, line: str, *, refused: bool) -> None:
        super().__init__(f"{address}: {line}")
        self.refused = refused


def environment(flow_run: str, pipeline_run: str) -> dict[str, str]:
    """Return the environment of a stage's process: the flow's ids, no telemetry, this environment's commands first in PATH."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    extra = {
        "HEARSIGHT_FLOW_RUN": flow_run,
        "HEARSIGHT_PIPELINE_RUN": pipeline_run,
        # The guard ends every process that a stage starts, so the flow starts the process that logs runs.
        recorder.SWITCH: os.environ.get(recorder.SWITCH, "queue"),
        "DVC_NO_ANALYTICS": "1",
        "PYTHONUNBUFFERED": "1",
    }
    return {**os.environ, "PATH": path, **{name: value for name, value in extra.items() if value}}


def _should_retry(_task: Any, _run: Any, state: State[Any]) -> bool:
    try:
        state.result()
    except StageFailed as error:
        return not error.refused
    except Exception:  # other errors may be temporary
        return True
    return False


@task(retry_condition_fn=_should_retry, persist_result=False)
def run_stage(stage: StageTask, root: Path, env: Mapping[str, str], slots: threading.Semaphore | None = None) -> str:
    """Reproduce one stage and return the last line of DVC's output.

    Raises:
        StageFailed: the stage failed or exceeded its time limit; the message has its error line.
    """
    logger = get_run_logger()
    lines: list[str] = []

    def log_line(line: str) -> None:
        logger.info("%s", line)
        lines.append(line)
        del lines[:-200]
        recorder.start_logger(root, training=True)

    with slots or threading.Semaphore():
        code = run_guarded(
            [*DVC, "--wait-for-lock", "repro", "-s", stage.address], cwd=root, env=env, limit=stage.timeout, on_line=log_line
        )
    recorder.start_logger(root)
    try:
        show_stage(stage, root, failed=error_line(lines) if code else "")
    except Exception as error:  # a missing artefact must not fail the stage
        logger.warning("no artefact for %s: %s", stage.address, error)
    if code == TIMED_OUT:
        raise StageFailed(stage.address, f"ended after its time limit of {stage.timeout:g} s", refused=False)
    if code:
        raise StageFailed(stage.address, error_line(lines), refused=any(re.search(r"exited with 2\b", line) for line in lines))
    return lines[-1] if lines else ""


def error_line(lines: list[str]) -> str:
    """Return the line with the error: the stage's own, else DVC's, else the last line."""
    for pattern in (r"^hearsight: (?!warning)", r"^ERROR: "):
        for line in reversed(lines):
            if re.search(pattern, line):
                return re.sub(pattern, "", line)
    return next((line for line in reversed(lines) if line.strip()), "ended without output")


@task(persist_result=False)
def status_is_clean(addresses: list[str], root: Path, env: Mapping[str, str]) -> None:
    """Verify that ``dvc status`` reports the stages as up to date.

    Raises:
        StageFailed: something changed during the flow; names the stages.
    """
    lines: list[str] = []
    code = run_guarded([*DVC, "--wait-for-lock", "status", *addresses], cwd=root, env=env, limit=600, on_line=lines.append)
    stale = [line.strip().rstrip(":") for line in lines if re.match(r"^\S+:$", line)]
    if code or stale:
        raise StageFailed("dvc status", f"not clean: {', '.join(stale) or error_line(lines)}", refused=True)
    get_run_logger().info("dvc status is clean: %d stages", len(addresses))


def start_snapshot(dataset: str, root: Path) -> None:
    """Set the crawl of ``dataset`` to the day's snapshot, based on its last one; an unfinished snapshot is kept.

    Raises:
        StageFailed: the dataset has no crawl, or params.yaml cannot be changed.
    """
    lines: list[str] = []
    command = [sys.executable, "-m", "components.cli.main", "snapshot", "next", "--dataset", dataset]
    code = run_guarded(command, cwd=root, env=environment("", ""), limit=600, on_line=lines.append)
    if code:
        raise StageFailed(f"snapshot of {dataset}", error_line(lines), refused=True)
    get_run_logger().info("snapshot: %s", lines[-1] if lines else dataset)


def _threads() -> Any:
    return ThreadPoolTaskRunner(max_workers=MAX_THREADS)


def _flow_run_name() -> str:
    return str(runtime.flow_run.parameters.get("target") or "everything")


@flow(name="pipeline", flow_run_name=_flow_run_name, persist_result=False, task_runner=_threads())
def pipeline(target: str = "", pools: dict[str, int] | None = None, snapshots: list[str] | None = None) -> int:
    """Bring the project of this process up to date.

    The project is no parameter: whoever may start a deployment's run could else name a folder of their own, and so any command.
    All parameters are compared with the project's graph before anything runs.

    Args:
        target: names of stages (``stage@dataset``), separated by spaces, to run with all they need; empty: all stages.
        pools: pool → concurrent stages; overrides :data:`POOLS`.
        snapshots: datasets whose crawl first starts the day's snapshot.

    Returns:
        The number of stages.

    Raises:
        HearsightError: a stage failed, or a parameter names a stage or dataset that the project does not have.
    """
    project = find_root()
    sizes = {**POOLS, **(pools or {})}
    if wrong := sorted(name for name, size in sizes.items() if size < 1):
        raise HearsightError(f"pool '{wrong[0]}' has size {sizes[wrong[0]]}", where="pools", hint="give a number of at least 1")
    if snapshots:
        graph = load_graph(project)
        for dataset in snapshots:
            graph.require("crawl", dataset)
    stages = read_tasks(project, target.split())
    for dataset in snapshots or []:
        start_snapshot(dataset, project)
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        raise MissingContextError("pipeline runs as a flow only")
    flow_run = str(context.flow_run.id)
    datasets = sorted({stage.dataset for stage in stages if stage.dataset})
    runs = recorder.open_pipeline(project, datasets, flow_run) if datasets else {}
    slots = {name: threading.Semaphore(size) for name, size in sizes.items()}
    finished = False
    try:
        futures: dict[str, PrefectFuture[str]] = {}
        for stage in stages:
            configured: Any = run_stage.with_options(
                name=stage.address,
                task_run_name=stage.address,
                retries=stage.retries,
                retry_delay_seconds=RETRY_AFTER[: stage.retries] or 0.0,
                tags=[f"pool:{stage.pool}"],
            )
            env = environment(flow_run, runs.get(stage.dataset, ""))
            slot = slots.setdefault(stage.pool, threading.Semaphore(1))
            futures[stage.address] = configured.submit(
                stage, project, env, slot, wait_for=[futures[up] for up in stage.upstream if up in futures]
            )
        wait(list(futures.values()))
        _raise_first(futures)
        show_funnels(project, datasets)
        status_is_clean([stage.address for stage in stages], project, environment(flow_run, ""))
        finished = True
    finally:
        if runs:
            recorder.close_pipeline(project, runs, finished=finished)
    return len(stages)


def _raise_first(futures: Mapping[str, PrefectFuture[str]]) -> None:
    """Raise one error for all failed stages: the first one's line, and the stages that did not run."""
    unfinished = {name: future.state for name, future in futures.items() if not future.state.is_completed()}
    failed = [name for name, state in unfinished.items() if state.is_failed() or state.is_crashed()]
    if not unfinished:
        return
    first = unfinished[failed[0]] if failed else next(iter(unfinished.values()))
    skipped = [name for name in unfinished if name not in failed]
    others = f"; failed too: {', '.join(failed[1:])}" if failed[1:] else ""
    not_run = f"; not run: {', '.join(skipped)}" if skipped else ""
    try:
        first.result()
    except StageFailed as error:
        raise HearsightError(
            f"{error}{others}{not_run}", hint="fix it and start the flow again: finished stages are not run again"
        ) from None
    raise HearsightError(f"{first.message}{others}{not_run}", where="flow")
