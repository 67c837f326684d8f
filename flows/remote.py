"""Stages of a pool with a Prefect work pool: a worker in another clone runs them, and hands back a commit.

The flow pushes a commit of its state to a ref of the stage's own, and the data that the stage reads to DVC's remote. The worker
checks the commit out, pulls, runs ``dvc repro -s``, pushes the stage's data, and moves the ref from that commit to one with the
stage's entry of ``dvc.lock`` and its small outputs; an attempt that was given up is refused. The flow takes the entry over.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.deployments import run_deployment
from prefect.exceptions import ObjectNotFound
from prefect.states import Failed
from prefect.types.entrypoint import EntrypointType
from prefect.workers.process import ProcessWorker

from components.core.errors import HearsightError
from components.core.graph import LOCK_FILE
from flows.commands import StageFailed, environment, failure, run_dvc
from flows.graph import StageTask, read_tasks
from flows.lockfile import dvc_lock, take_entries, take_stages
from flows.locks import run_lock
from flows.repository import FLOW_RUN, Move, PushRefused, Repository
from flows.schedules import Pool
from flows.versioned import pull, push, setting_files, take_files

REF = "refs/hearsight/work"
REFUSED = "Refused"
"""Name of the state of a remote run whose repetition would fail too."""
POLL = 2.0
"""Seconds between two looks at a remote run."""
ROOT, REMOTE = "HEARSIGHT_WORKER_ROOT", "HEARSIGHT_WORKER_REMOTE"
"""Environment of a worker's runs: its clone, and the git remote in it."""
NAME = "remote-stage"


def deploy_pool(client: SyncPrefectClient, work_pool: str) -> None:
    """Register the work pool and the deployment of its stages."""
    try:
        client.read_work_pool(work_pool)
    except ObjectNotFound:
        template = ProcessWorker.get_default_base_job_template()
        client.create_work_pool(WorkPoolCreate(name=work_pool, type=ProcessWorker.type, base_job_template=template))
    deployment: Any = remote_stage.to_deployment(
        name=work_pool, work_pool_name=work_pool, entrypoint_type=EntrypointType.MODULE_PATH
    )
    deployment.apply()


def run_remotely(
    stage: StageTask, pool: Pool, root: Path, flow_run: str, files: Sequence[str], log: Callable[[str], None]
) -> None:
    """Have a worker of the pool run a stage, and take its results over.

    Args:
        files: small outputs of all stages, which travel in the commit.

    Raises:
        StageFailed: the stage failed there, its worker died, or no worker took it within the stage's time limit.
        HearsightError: code is not committed, or a push or pull failed.
    """
    git, files = Repository(root, pool.remote), [*setting_files(root), LOCK_FILE, *files]
    if edited := [path for path in git.changed_files() if path not in files]:
        raise HearsightError("is not committed, and a worker would run the committed code", where=edited[0], hint="commit it")
    ref = f"{REF}/{flow_run}/{re.sub(r'[^A-Za-z0-9]+', '-', stage.address).strip('-')}-{uuid.uuid4().hex[:8]}"
    head = git.value("HEAD")
    with dvc_lock(root):  # no stage writes dvc.lock meanwhile
        commit = git.commit(head, [head], files, f"before {stage.address}\n\n{FLOW_RUN}{flow_run}\n")
    if stage.upstream:
        push(root, stage.upstream, flow_run, deps=False)
    git.push(Move(ref, "", commit))
    last = commit
    try:
        _wait(
            stage, pool, {"stage": stage.address, "ref": ref, "commit": commit, "limit": stage.timeout, "flow_run": flow_run}, log
        )
        last = git.fetch(ref)
        if last == commit or not git.is_ancestor(commit, last):
            raise StageFailed(stage.address, f"the worker left no commit on {ref}", refused=False)
        take_files(git, last, stage.files)
        take_stages(root, git.read(last, LOCK_FILE), [stage.address])
        pull(root, [stage.address], flow_run)
    finally:
        try:
            git.push(Move(ref, last, ""))
        except (PushRefused, HearsightError) as error:
            log(f"warning: {ref} may be left on remote {pool.remote}: {error}")


def delete_old_refs(root: Path, remote: str, log: Callable[[str], None]) -> None:
    """Delete the refs that killed flows have left on a remote; those of flows that another server knows stay.

    A remote that cannot be used is logged: the stages that go through it fail with their own line, and others run.
    """
    try:
        git = Repository(root, remote)
        if not (refs := git.remote_refs(f"{REF}/*")):
            return
        with get_client(sync_client=True) as client:
            for ref, commit in refs.items():
                with suppress(ObjectNotFound, ValueError, PushRefused):
                    state = client.read_flow_run(uuid.UUID(ref.removeprefix(f"{REF}/").partition("/")[0])).state
                    if state is not None and state.is_final():
                        git.push(Move(ref, commit, ""))
    except HearsightError as error:
        log(f"warning: refs of killed flows stay on remote {remote}: {error}")


def _wait(stage: StageTask, pool: Pool, parameters: dict[str, Any], log: Callable[[str], None]) -> None:
    started: Any = run_deployment(f"{NAME}/{pool.work_pool}", parameters=parameters, timeout=0, flow_run_name=stage.address)
    deadline = time.monotonic() + stage.timeout
    log(f"{stage.address}: waits for a worker of work pool {pool.work_pool}")
    with get_client(sync_client=True) as client:
        while True:
            try:
                state: Any = client.read_flow_run(started.id).state
            except ObjectNotFound:
                raise StageFailed(stage.address, "its run was deleted on Prefect's server", refused=False) from None
            if state.is_completed():
                return
            if state.is_final():
                line = re.sub(rf"^.*?{re.escape(stage.address)}: ", "", state.message or state.name, flags=re.DOTALL)
                raise StageFailed(stage.address, f"{line} (on a worker of {pool.work_pool})", refused=state.name == REFUSED)
            if state.is_running():
                deadline = max(deadline, time.monotonic() + 60)  # the worker keeps the stage's limit
            elif time.monotonic() > deadline:
                with suppress(ObjectNotFound):
                    client.delete_flow_run(started.id)
                line = f"no worker of work pool {pool.work_pool} took it within {stage.timeout:g} s"
                raise StageFailed(stage.address, line, refused=False)
            time.sleep(POLL)


@flow(name=NAME, flow_run_name="{stage}", persist_result=False)
def remote_stage(stage: str, ref: str, commit: str, limit: float, flow_run: str) -> Any:
    """Run one stage in the worker's clone.

    Args:
        stage: address of the stage.
        ref: ref of the git remote that has ``commit``, and gets the result.
        limit: time limit of the stage in seconds.
        flow_run: id of the flow run that asks for it.
    """
    logger = get_run_logger()
    root, remote = Path(os.environ[ROOT]), os.environ.get(REMOTE, "origin")
    env = environment(flow_run, "")
    with run_lock(root, limit):
        git = Repository(root, remote)
        if git.fetch(ref) != commit:
            return Failed(name=REFUSED, message=f"{stage}: {ref} has moved on: the flow gave up on this run")
        git.run("checkout", "--quiet", "--force", "--detach", commit)
        task = next(task for task in read_tasks(root, [stage]) if task.address == stage)
        if task.upstream:
            pull(root, task.upstream, flow_run)
        code, lines = run_dvc(["repro", "-s", stage], root, env, limit, lambda line: logger.info("%s", line))
        if code:
            error = failure(stage, code, lines, limit)
            return Failed(name=REFUSED if error.refused else "Failed", message=str(error))
        push(root, [stage], flow_run, deps=False)
        lock = take_entries(git.read(commit, LOCK_FILE), (root / LOCK_FILE).read_text(encoding="utf-8"), [stage])
        message = f"{stage} by a worker\n\n{FLOW_RUN}{flow_run}\n"
        git.push(Move(ref, commit, git.commit(commit, [commit], task.files, message, {LOCK_FILE: lock})))
    return None
