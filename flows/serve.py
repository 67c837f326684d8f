"""``python -m flows.serve``: deployments of the pipeline on the schedules of ``params.yaml:schedules``.

Each schedule has a deployment (``pipeline/daily`` …); ``pipeline/on-demand`` has no schedule. This process serves them, one run
at a time, with the project's Prefect server, which it starts if it does not run. At its start it makes up for missed runs.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from components.core.errors import HearsightError
from components.core.graph import find_root
from components.core.streams import report_errors, run_program
from components.execution.process import sole_writer
from flows.locks import run_lock
from flows.repository import Repository
from flows.schedules import Schedule, read_pools, read_schedules
from flows.server import explain, prefect_server, use_server, without_login
from flows.settings import PORTS, configure_prefect, login_path

RUN_ENDS = 15.0
"""Seconds in which an interrupted run ends: its stage has 10 of them."""


def deployments(schedules: dict[str, Schedule]) -> list[Any]:
    """Return the deployments: one for each schedule, and ``on-demand``."""
    # Here: Prefect reads its settings on import.
    from prefect.types.entrypoint import EntrypointType

    from flows.flow import pipeline

    # As a module: as a file, its folder would come first where runs look for modules, and flows.prefect stand for prefect.
    module = EntrypointType.MODULE_PATH
    scheduled = [
        pipeline.to_deployment(
            name=name,
            cron=schedule.cron,
            parameters={"target": schedule.target, "snapshots": schedule.snapshots, "schedule": name},
            entrypoint_type=module,
        )
        for name, schedule in schedules.items()
    ]
    return [*scheduled, pipeline.to_deployment(name="on-demand", entrypoint_type=module)]


def prepare(root: Path, schedules: dict[str, Schedule], served: Sequence[Any], own: bool) -> None:
    """Register deployments, automations and the work pools of ``params.yaml:pools``; start a run for each missed schedule.

    Args:
        own: whether the server is this project's: then no other clone makes its runs, and those that nothing runs are ended.

    Raises:
        HearsightError: a block of ``schedules.<name>.notify`` is missing.
    """
    # Here: as above.
    from prefect.client.orchestration import get_client

    from flows.automations import catch_up, end_dead, end_zombies, notify
    from flows.remote import deploy_pool

    ids = {deployment.name: deployment.apply() for deployment in served}
    with get_client(sync_client=True) as client:
        end_zombies(client)
        with suppress(HearsightError):  # a run has the lock, though what served it was killed
            if own:
                with run_lock(root):
                    end_dead(client, list(ids.values()))
        notify(client, schedules, ids, root)
        for pool in read_pools(root).values():
            if pool.work_pool:
                deploy_pool(client, pool.work_pool)
        for name in catch_up(client, root, schedules, ids):
            print(f"pipeline/{name}: runs were missed; one starts now", flush=True)


def serve_until_signal(served: Sequence[Any]) -> None:
    """Run what is due, one run at a time, until Ctrl-C or SIGTERM, which also end the run in progress."""
    # Here: as above.
    from prefect.runner import Runner

    class PatientRunner(Runner):
        """Waits for the run in progress, which Prefect would kill before it has said that it ended."""

        async def start(self, *args: Any, **kwargs: Any) -> None:
            end: Any = signal.getsignal(signal.SIGINT)

            def interrupt(*call: Any) -> None:
                # A terminal sends Ctrl-C to the run too; what sends it to this process alone has the run wait for its signal.
                _, unaware = psutil.wait_procs(psutil.Process().children(), timeout=RUN_ENDS)
                for run in unaware:
                    run.send_signal(signal.SIGINT)
                psutil.wait_procs(unaware, timeout=RUN_ENDS)
                end(*call)

            signal.signal(signal.SIGINT, interrupt)
            await super().start(*args, **kwargs)

        def handle_sigterm(self, *args: Any, **kwargs: Any) -> None:
            """End as with Ctrl-C: Prefect's own handler leaves the run marked as running."""
            for run in psutil.Process().children():
                run.send_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # `nohup … &` has it ignored, here and in the runs
    runner = PatientRunner(limit=1)
    for deployment in served:
        runner.add_deployment(deployment)
    with suppress(KeyboardInterrupt):
        asyncio.run(runner.start())


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the process ends; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m flows.serve", description="Serve the pipeline's scheduled deployments.")
    parser.add_argument("--port", type=int, default=PORTS["prefect"], help="port of Prefect's server, if none runs")
    chosen = parser.parse_args(arguments)

    def run() -> None:
        root = find_root()
        os.environ["HEARSIGHT_ROOT"] = str(root)  # the runs are processes of this one: they run its project and no other
        configure_prefect(root)
        schedules = read_schedules(root)
        for schedule in schedules.values():
            Repository(root, schedule.push)  # named now, not at three in the morning
        os.environ.setdefault("PREFECT_FLOWS_HEARTBEAT_FREQUENCY", "30")
        own = "PREFECT_API_URL" not in os.environ
        alone = sole_writer(root / ".hearsight" / "locks" / "serve.lock", "the record of scheduled runs")
        with alone, prefect_server(root, chosen.port) as url:
            if own:
                use_server(url)
            served = deployments(schedules)
            prepare(root, schedules, served, own)
            for name, schedule in schedules.items():
                print(f"pipeline/{name:<22} {schedule.cron} UTC, {schedule.target or 'everything'}")
            print(f"runs and their logs             {without_login(url).removesuffix('/api')}")
            if own:
                print(f"Prefect asks for a login        the line in {login_path(root).relative_to(root)}")
            print("start a run in another terminal python -m flows.prefect deployment run pipeline/NAME")
            print("served until Ctrl-C", flush=True)
            serve_until_signal(served)

    return report_errors(run, explain)


if __name__ == "__main__":
    run_program(main)
