"""The Prefect tasks of a flow: one for each stage, and one that asks DVC at the end.

A task has DVC reproduce one stage under a guard, so a cancelled or killed flow leaves no process behind. Exit code 2 (bad
input, a failed check) is not retried.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prefect import get_run_logger, task
from prefect.states import Completed, State

from components.tracking import recorder
from flows.commands import StageFailed, environment, error_line, failure, run_dvc
from flows.graph import StageTask, read_plan
from flows.guard import run_guarded
from flows.progress import Progress
from flows.schedules import Pool
from flows.slots import Slots
from flows.versioned import read_settings

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
