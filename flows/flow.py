"""The Prefect flow: a task for each stage of DVC's graph that has changed or may change, read from dvc.yaml at every run.

The pool in a stage's ``meta`` limits the concurrent stages of the flow, and is a tag (``pool:gpu``) for a server's limits across
flows. A flow of a schedule commits its results (:mod:`flows.versioned`).

A task has DVC reproduce one stage under a guard, so a cancelled or killed flow leaves no process behind. Exit code 2 (bad
input, a failed check) is not retried. At the end DVC is asked.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
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
from components.core.graph import find_root, load_graph
from components.core.stage_output import StageOutput
from components.tracking import recorder
from flows.commands import StageFailed, environment, error_line, failure, run_dvc
from flows.graph import StageTask, affected_by, read_plan
from flows.guard import end_commands, run_guarded
from flows.locks import run_lock
from flows.progress import LOG, Progress, expected_seconds, run_log
from flows.schedules import Pool, read_pools, read_schedules
from flows.slots import Slots, default_sizes
from flows.versioned import open_run, read_settings, superseded

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


@task(retry_condition_fn=_should_retry, persist_result=False, task_run_name="{stage.address}")
def run_stage(
    stage: StageTask,
    root: Path,
    env: Mapping[str, str],
    progress: Progress,
    slots: Slots,
    pool: Pool | None = None,
) -> Any:
    """Reproduce one stage; end as ``Cached`` when it is up to date, without starting DVC where its inputs cannot differ.

    Raises:
        StageFailed: the stage failed or exceeded its time limit; the message has its error line.
    """
    if not progress.may_differ(stage):
        progress.done(stage)
        return Completed(name="Cached", message="up to date")
    logger = get_run_logger()

    def log_line(line: str) -> None:
        logger.info("%s", line)
        recorder.start_logger(root, training=True)

    with slots.take(stage), progress.running(stage):
        if pool is not None and pool.work_pool:
            from flows.remote import run_remotely  # here: seconds of imports for work pools only

            run_remotely(stage, pool, root, env["HEARSIGHT_FLOW_RUN"], progress.files, log_line)
            progress.ran.add(stage.address)
            progress.done(stage)
            return "ran on a worker"
        code, lines = run_dvc(["repro", "-s", stage.address], root, env, stage.timeout, log_line)
    recorder.start_logger(root)
    skipped = code == 0 and any(SKIPPED.search(line) for line in lines)
    if not skipped:
        progress.ran.add(stage.address)
    if code:
        slots.require_open(stage)
        raise failure(stage.address, code, lines, stage.timeout)
    progress.done(stage)
    return Completed(name="Cached", message="its inputs are equal") if skipped else lines[-1] if lines else ""


@task(persist_result=False)
def status_is_clean(addresses: list[str], root: Path) -> dict[str, str]:
    """Verify that ``dvc status`` reports the stages as up to date; return the texts of settings for which it does.

    Raises:
        StageFailed: something changed during the flow; names the stages.
    """
    settings = read_settings(root)
    if stale := read_plan(root, addresses)[1] & set(addresses):
        raise StageFailed("dvc status", f"not clean: {', '.join(sorted(stale))}", refused=True)
    if settings != read_settings(root):
        raise StageFailed("settings", "were changed while dvc status read it; start the flow again", refused=True)
    get_run_logger().info("dvc status is clean: %d stages", len(addresses))
    return settings


def start_snapshot(dataset: str, root: Path) -> None:
    """Set the crawl of ``dataset`` to the day's snapshot, based on its last one; an unfinished snapshot is kept.

    Raises:
        StageFailed: the dataset has no crawl, or its settings cannot be changed.
    """
    lines: list[str] = []
    command = [sys.executable, "-m", "components.cli.main", "snapshot", "next", "--dataset", dataset]
    code = run_guarded(command, cwd=root, env=environment("", ""), limit=600, on_line=lines.append)
    if code:
        raise StageFailed(f"snapshot of {dataset}", error_line(lines), refused=True)
    get_run_logger().info("snapshot: %s", lines[-1] if lines else dataset)


MAX_THREADS = 256
RETRY_AFTER: list[float] = [10, 60, 300]
"""Seconds before the first, second and further retries."""


def _threads() -> Any:
    return ThreadPoolTaskRunner(max_workers=MAX_THREADS)


def _flow_run_name() -> str:
    return str(runtime.flow_run.parameters.get("target") or "everything")


@flow(name="pipeline", flow_run_name=_flow_run_name, persist_result=False, task_runner=_threads())
def pipeline(
    target: str = "",
    pools: dict[str, int] | None = None,
    snapshots: list[str] | None = None,
    schedule: str = "",
    due: str = "",
    expected: dict[str, float] | None = None,
) -> Any:
    """Bring the project of this process up to date.

    The project is no parameter: whoever may start a deployment's run could else name a folder of their own, and so any command.
    All parameters are compared with the project's graph before anything runs.

    Args:
        target: names of stages (``stage@dataset``), separated by spaces, to run with all they need; empty: all stages.
        pools: pool → concurrent stages; overrides :func:`flows.slots.default_sizes`.
        snapshots: datasets whose crawl first starts the day's snapshot.
        schedule: name of the entry of ``params.yaml:schedules`` whose run this is; its results are committed.
        due: ISO time at which the run was due; a run with a tag since then is not repeated. Empty: when it was scheduled.
        expected: stage → seconds that it takes, where it has never run; the longest goes first.

    Returns:
        The number of stages.

    Raises:
        HearsightError: a stage failed, or a parameter names a stage or dataset that the project does not have.
    """
    project = find_root()
    sizes = {**default_sizes(), **{name: pool.at_once for name, pool in read_pools(project).items()}, **(pools or {})}
    if wrong := sorted(name for name, size in sizes.items() if size < 1):
        raise HearsightError(f"pool '{wrong[0]}' has size {sizes[wrong[0]]}", where="pools", hint="give a number of at least 1")
    if snapshots:
        graph = load_graph(project)
        for dataset in snapshots:
            graph.require("crawl", dataset)
    schedules = read_schedules(project)
    if schedule and schedule not in schedules:
        raise HearsightError(f"has no schedule '{schedule}'", where=project / "params.yaml", hint="start flows.serve again")
    if snapshots or schedule:
        read_plan(project, target.split(), ask=False)  # an unknown target is refused before settings change
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        raise MissingContextError("pipeline runs as a flow only")
    if not schedule:
        with run_lock(project), run_log(project):
            return len(_run_stages(project, target, sizes, snapshots, str(context.flow_run.id), expected or {})[0])
    with open_run(project, schedule, schedules[schedule], str(context.flow_run.id)) as run, run_log(project):
        if reason := superseded(run, context.flow_run, due):
            return Completed(name="Skipped", message=reason, data=0)
        run.update()
        stages, progress, settings = _run_stages(project, target, sizes, snapshots, run.flow_run, expected or {})
        tag = run.publish(stages, sorted(progress.ran), settings)
    get_run_logger().info("committed as %s", tag)
    warnings = read_warnings(StageOutput(project / "data" / stage.output) for stage in stages if stage.output)
    if warnings:
        text = "; ".join(warning.text for warning in warnings)
        return Completed(name="Warnings", message=f"{len(warnings)} warnings: {text}"[:2000], data=len(stages))
    return Completed(message=tag, data=len(stages))


def _run_stages(
    project: Path,
    target: str,
    sizes: Mapping[str, int],
    snapshots: list[str] | None,
    flow_run: str,
    told: Mapping[str, float],
) -> tuple[list[StageTask], Progress, dict[str, str]]:
    """Run the tasks of the graph; return them, what DVC ran, and the texts of settings with which all are up to date."""
    for dataset in snapshots or []:
        start_snapshot(dataset, project)
    settings = read_settings(project)
    stages, changed = read_plan(project, target.split())
    affected = affected_by(changed, stages)
    expected = {stage.address: expected_seconds(project, stage, told) for stage in affected}
    progress, slots = Progress(changed, stages, expected), Slots(sizes, stages, expected)
    get_run_logger().info("%d of %d stages are up to date", len(stages) - len(affected), len(stages))
    datasets = sorted({stage.dataset for stage in stages if stage.dataset})
    runs = recorder.open_pipeline(project, datasets, flow_run) if datasets and changed else {}
    work_pools = read_pools(project)
    if remotes := {pool.remote for stage in affected if (pool := work_pools.get(stage.pool)) and pool.work_pool}:
        from flows.remote import delete_old_refs  # here: seconds of imports for work pools only

        for remote in sorted(remotes):
            delete_old_refs(project, remote, get_run_logger().warning)
    finished = False
    try:
        futures: dict[str, PrefectFuture[str]] = {}
        tasks: dict[tuple[int, str], Any] = {}  # Prefect parses the function's source for each task that it makes
        for stage in affected:
            kind = (stage.retries, stage.pool)
            if kind not in tasks:
                tasks[kind] = run_stage.with_options(
                    retries=stage.retries,
                    retry_delay_seconds=RETRY_AFTER[: stage.retries] or 0.0,
                    tags=[f"pool:{stage.pool}"],
                )
            env = environment(flow_run, runs.get(stage.dataset, ""))
            futures[stage.address] = tasks[kind].submit(
                stage,
                project,
                env,
                progress,
                slots,
                work_pools.get(stage.pool),
                wait_for=[futures[up] for up in stage.upstream if up in futures],
            )
        wait(list(futures.values()))
        _raise_first(project, futures)
        if progress.ran or read_settings(project) != settings:  # otherwise the first answer stands
            settings = status_is_clean([stage.address for stage in stages], project)
        finished = True
    finally:
        slots.close()
        if not finished:
            end_commands()  # of Ctrl-C or a signal: the tasks' threads wait for them
        progress.close()
        if runs:
            recorder.close_pipeline(project, runs, finished=finished)
    return stages, progress, settings


def _raise_first(project: Path, futures: Mapping[str, PrefectFuture[str]]) -> None:
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
            f"{error}{others}{not_run}",
            hint=f"see {project / LOG}; the same command continues: finished stages are not run again",
        ) from None
    raise HearsightError(f"{first.message}{others}{not_run}", where="flow")
