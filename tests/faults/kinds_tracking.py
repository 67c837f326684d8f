"""Faults of MLflow and its database: locked, damaged, connections ended, server gone, and a runner killed while it logs.

A stage must finish without MLflow, and its run must be there once, finished, when MLflow is back.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults import commands
from tests.faults.fault import Fault, World
from tests.faults.kinds_files import MODES, damage
from tests.faults.moments import Strike
from tests.faults.project import Small, copy_small
from tests.support.ratings.postgres import postgres

NOW = {"HEARSIGHT_TRACKING": "now"}
DATABASE = "mlflow.db"


def prepare_tracking(world: World) -> Path:
    """Return a database of MLflow that holds one run; made once, with all that logging imports."""
    made = world.folder / DATABASE
    if not made.exists():
        project = copy_small(world.template, world.folder / "tracked")
        project.forget("split")
        listing = world.folder / "tracking-modules"
        done = commands.dvc(project.root, "repro", "split@english", **NOW, **{commands.LISTING: str(listing)})
        assert done.code == 0 and (project.root / DATABASE).exists(), done.output
        os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
        commands.load(sorted(set(listing.read_text().split()) - set(sys.modules)))
        shutil.move(project.root / DATABASE, made)
        shutil.rmtree(project.root)
    return made


def tracking(draw: random.Random, world: World) -> Fault:
    """Draw a fault of MLflow's SQLite file, of its PostgreSQL server, or of the runner that logs."""
    return draw.choice((_locked, _damaged, _killed, _unreachable, _connection))(draw, world)


def _fault(world: World, about: str, stage: str, environment: dict[str, str] | None = None) -> Fault:
    database = prepare_tracking(world)
    return Fault(
        about,
        stage,
        stage,
        prepare=lambda project: shutil.copy(database, project.root / DATABASE) and None,
        environment={**NOW, **(environment or {})},
        verify=lambda project: missing_runs(project, stage, {**NOW, **(environment or {})}),
    )


def _late(draw: random.Random, world: World, stage: str, action: Callable[[], None]) -> Strike:
    """Draw a moment near the end of a stage, where it logs."""
    steps = world.steps[f"run {stage}"]["runner"]
    return Strike(f"run {stage}", "runner", draw.randint(max(steps * 4 // 5, 1), steps + 20), action)


def _locked(draw: random.Random, world: World) -> Fault:
    fault = _fault(world, "MLflow's database locked by another process", world.stage_and_goal(draw)[0])

    @contextmanager
    def during(project: Small) -> Iterator[None]:
        holder = sqlite3.connect(project.root / DATABASE, isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        try:
            yield
        finally:
            holder.close()

    fault.during = during
    return fault


def _damaged(draw: random.Random, world: World) -> Fault:
    mode, position = draw.choice(MODES), draw.random()
    fault = _fault(world, f"MLflow's database: {mode} at {position:.3f}", world.stage_and_goal(draw)[0])
    fresh, copy = fault.prepare, world.folder / DATABASE

    def prepare(project: Small) -> None:
        fresh(project)
        damage(project.root / DATABASE, mode, position, hidden=False)

    def restore(project: Small) -> None:
        # What a user does whose database takes no run: its last copy comes back.
        if any((project.root / ".hearsight" / "runs").glob("*.json")):
            shutil.copy(copy, project.root / DATABASE)

    fault.prepare, fault.always_after = prepare, restore
    return fault


def _killed(draw: random.Random, world: World) -> Fault:
    stage, _ = world.stage_and_goal(draw)
    strike = _late(draw, world, stage, lambda: os.kill(os.getpid(), signal.SIGKILL))
    fault = _fault(world, f"runner killed at step {strike.at} of {stage}, which logs at its end", stage)
    fault.strike, fault.kills = strike, True
    return fault


def _unreachable(draw: random.Random, world: World) -> Fault:
    stage, _ = world.stage_and_goal(draw)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        nobody = f"http://127.0.0.1:{listener.getsockname()[1]}"
    fault = _fault(world, "MLflow's server gone", stage)
    fault.first_environment = {"MLFLOW_TRACKING_URI": nobody, "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"}
    return fault


def _connection(draw: random.Random, world: World) -> Fault:
    stage, _ = world.stage_and_goal(draw)
    if "postgres" not in world.addresses:
        world.addresses["postgres"] = world.resources.enter_context(postgres())
    url = world.addresses["postgres"]
    hard = draw.random() < 0.5
    strike = _late(draw, world, stage, lambda: end_connections(url, hard=hard))
    how = "kill -9 of" if hard else "an administrator ends"
    fault = _fault(
        world, f"{how} the connections to PostgreSQL from step {strike.at} of {stage}", stage, {"MLFLOW_TRACKING_URI": url}
    )
    fault.strike = strike
    return fault


def end_connections(url: str, *, hard: bool) -> None:
    """End every other connection to the database; ``hard``: kill their processes, after which the server recovers."""
    import psycopg

    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        others = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        if not hard:
            connection.execute(f"SELECT pg_terminate_backend(pid) {others}")
            return
        for (pid,) in connection.execute(f"SELECT pid {others}").fetchall():
            os.kill(pid, signal.SIGKILL)


def missing_runs(project: Small, stage: str, environment: dict[str, str]) -> list[str]:
    """Log what waits, in a fork, and return what is wrong with the runs of ``stage`` in MLflow."""

    def look() -> int:
        from components.tracking.queue import flush, waiting
        from components.tracking.record import connect

        flush(project.root)
        client = connect(project.root)
        experiment = client.get_experiment_by_name("english")
        runs = client.search_runs([experiment.experiment_id], f"tags.`hearsight.stage` = '{stage}'") if experiment else []
        digest = project.finished(stage).digest
        found = Counter(run.info.status for run in runs if run.data.tags.get("hearsight.output_digest") == digest)
        print(
            f"PROBLEMS {dict(found)}, waiting {len(waiting(project.root))}"
            if found["FINISHED"] != 1 or found["RUNNING"]
            else "RIGHT"
        )
        return 0

    done = commands.run_forked(("look",), look, project.root, environment)
    if "RIGHT" in done.output:
        return []
    return [f"MLflow: {(done.output.strip().splitlines() or ['nothing'])[-1]}"]
