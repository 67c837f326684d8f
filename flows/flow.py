"""The Prefect flow: one task for each stage of DVC's graph, read from dvc.yaml at every run.

A task runs ``dvc repro`` on one stage under a guard, so a cancelled or killed flow leaves no process behind. The pool in a
stage's ``meta`` limits the concurrent stages of the flow, and is a tag (``pool:gpu``) for a server's limits across flows. Exit
code 2 (bad input, a failed check) is not retried.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger, runtime, task
from prefect.context import FlowRunContext
from prefect.exceptions import MissingContextError
from prefect.futures import PrefectFuture, wait
from prefect.states import Completed, State
from prefect.task_runners import ThreadPoolTaskRunner

from components.core.check_warnings import read_warnings
from components.core.errors import HearsightError
from components.tracking import recorder
from flows.commands import StageFailed, environment, error_line, run_dvc
from flows.graph import StageTask, read_plan
from flows.guard import TIMED_OUT, run_guarded
from flows.locks import run_lock
from flows.schedules import Schedule, read_pools, read_schedules
from flows.show import show_funnels, show_stage
from flows.versioned import open_run, superseded

POOLS = {"cpu": 1, "gpu": 1, "network": 2}
"""Pool → concurrent stages; one CPU stage uses all cores."""
MAX_THREADS = 256
RETRY_AFTER: list[float] = [10, 60, 300]
"""Seconds before the first, second and further retries."""
SKIPPED = re.compile(r"^Stage '.*' didn't change, skipping")
"""DVC's line for a stage that it has not run."""


def _should_retry(_task: Any, _run: Any, state: State[Any]) -> bool:
    try:
        state.result()
    except StageFailed as error:
        return not error.refused
    except Exception:  # other errors may be temporary
        return True
    return False


@dataclass
class Progress:
    """What the stages of one flow run know of each other."""

    changed: set[str]
    """Addresses that ``dvc status`` reported as changed when the flow started."""
    ran: set[str] = field(default_factory=set)
    """Addresses that DVC has run in this flow."""

    def may_differ(self, stage: StageTask) -> bool:
        """Return whether DVC has to be asked about the stage: it was changed, or one that it needs has run since."""
        return stage.address in self.changed or not self.ran.isdisjoint(stage.upstream)


@task(retry_condition_fn=_should_retry, persist_result=False)
def run_stage(
    stage: StageTask, root: Path, env: Mapping[str, str], progress: Progress, slots: threading.Semaphore | None = None
) -> Any:
    """Reproduce one stage; end as ``Cached`` when it is up to date, without starting DVC where its inputs cannot differ.

    Raises:
        StageFailed: the stage failed or exceeded its time limit; the message has its error line.
    """
    if not progress.may_differ(stage):
        return Completed(name="Cached", message="up to date")
    logger = get_run_logger()

    def log_line(line: str) -> None:
        logger.info("%s", line)
        recorder.start_logger(root, training=True)

    with slots or threading.Semaphore():
        code, lines = run_dvc(["repro", "-s", stage.address], root, env, stage.timeout, log_line)
    recorder.start_logger(root)
    skipped = code == 0 and any(SKIPPED.search(line) for line in lines)
    if not skipped:
        progress.ran.add(stage.address)
        try:
            show_stage(stage, root, failed=error_line(lines) if code else "")
        except Exception as error:  # a missing artefact must not fail the stage
            logger.warning("no artefact for %s: %s", stage.address, error)
    if code == TIMED_OUT:
        raise StageFailed(stage.address, f"ended after its time limit of {stage.timeout:g} s", refused=False)
    if code:
        raise StageFailed(stage.address, error_line(lines), refused=any(re.search(r"exited with 2\b", line) for line in lines))
    return Completed(name="Cached", message="its inputs are equal") if skipped else lines[-1] if lines else ""


@task(persist_result=False)
def status_is_clean(addresses: list[str], root: Path) -> None:
    """Verify that ``dvc status`` reports the stages as up to date.

    Raises:
        StageFailed: something changed during the flow; names the stages.
    """
    if stale := read_plan(root, addresses)[1] & set(addresses):
        raise StageFailed("dvc status", f"not clean: {', '.join(sorted(stale))}", refused=True)
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
def pipeline(
    target: str = "",
    root: str = "",
    pools: dict[str, int] | None = None,
    snapshots: list[str] | None = None,
    schedule: str = "",
    due: str = "",
) -> Any:
    """Bring the project up to date.

    Args:
        target: names of stages (``stage@dataset``), separated by spaces, to run with all they need; empty: all stages.
        root: the project's folder; empty: the current folder.
        pools: pool → concurrent stages; overrides :data:`POOLS`.
        snapshots: datasets whose crawl first starts the day's snapshot.
        schedule: name of the entry of ``params.yaml:schedules`` whose run this is; its results are committed.
        due: ISO time at which the run was due; a run with a tag since then is not repeated. Empty: when it was scheduled.

    Returns:
        The number of stages.
    """
    project = Path(root or Path.cwd()).resolve()
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        raise MissingContextError("pipeline runs as a flow only")
    if not schedule:
        with run_lock(project):
            return len(_run_stages(project, target, pools, snapshots, str(context.flow_run.id))[0])
    settings = read_schedules(project).get(schedule, Schedule(target=target, snapshots=snapshots or []))
    with open_run(project, schedule, settings, str(context.flow_run.id)) as run:
        if reason := superseded(run, context.flow_run, due):
            return Completed(name="Skipped", message=reason, data=0)
        run.update()
        stages, progress = _run_stages(project, target, pools, snapshots, run.flow_run)
        tag = run.publish(stages, sorted(progress.ran))
    get_run_logger().info("committed as %s", tag)
    checked = [f"{stage.dataset}/{stage.verb[1]}" for stage in stages if stage.verb[0] == "check"]
    warnings = read_warnings(project, checked)
    if warnings:
        text = "; ".join(warning.text for warning in warnings)
        return Completed(name="Warnings", message=f"{len(warnings)} warnings: {text}"[:2000], data=len(stages))
    return Completed(message=tag, data=len(stages))


def _run_stages(
    project: Path, target: str, pools: dict[str, int] | None, snapshots: list[str] | None, flow_run: str
) -> tuple[list[StageTask], Progress]:
    """Run the tasks of the graph; return them, and what DVC ran."""
    for dataset in snapshots or []:
        start_snapshot(dataset, project)
    stages, changed = read_plan(project, target.split())
    progress = Progress(changed)
    datasets = sorted({stage.dataset for stage in stages if stage.dataset})
    runs = recorder.open_pipeline(project, datasets, flow_run) if datasets and changed else {}
    configured_pools = read_pools(project)
    sizes = {**POOLS, **{name: pool.at_once for name, pool in configured_pools.items()}, **(pools or {})}
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
                stage, project, env, progress, slot, wait_for=[futures[up] for up in stage.upstream if up in futures]
            )
        wait(list(futures.values()))
        _raise_first(futures)
        if progress.ran:  # otherwise the first answer stands
            show_funnels(project, datasets)
            status_is_clean([stage.address for stage in stages], project)
        finished = True
    finally:
        if runs:
            recorder.close_pipeline(project, runs, finished=finished)
    return stages, progress


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
