"""``python -m flows.serve``: deployments of the pipeline on the schedules of ``params.yaml:schedules``.

Each schedule has a deployment (``pipeline/daily`` …); ``pipeline/on-demand`` has no schedule. This process serves them, one run
at a time. Without ``PREFECT_API_URL`` it starts a server on loopback.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.graph import find_root
from components.core.params import Settings, parse_settings, read_params_file
from flows.server import prefect_server
from flows.settings import configure_prefect


class Schedule(Settings):
    """One entry of ``params.yaml:schedules``."""

    cron: str = "0 3 * * *"
    """Cron schedule in UTC."""
    target: str = ""
    """Stages to run with all they need, e.g. ``report@english``; empty for all stages."""
    snapshots: list[str] = []
    """Datasets whose crawl first starts the day's snapshot (`hearsight snapshot next`)."""


def read_schedules(root: Path) -> dict[str, Schedule]:
    """Return name → entry of ``params.yaml:schedules``.

    Raises:
        HearsightError: an entry or its cron schedule is invalid.
    """
    # Here: Prefect reads its settings on import, after flows.settings.
    from prefect.client.schemas.schedules import CronSchedule
    from pydantic import ValidationError

    path = root / "params.yaml"
    schedules: dict[str, Schedule] = {}
    for name, block in (read_params_file(path).get("schedules") or {}).items():
        schedule = parse_settings(Schedule, block, f"{path}: schedules.{name}")
        assert isinstance(schedule, Schedule)
        try:
            CronSchedule(cron=schedule.cron)
        except ValidationError:
            raise HearsightError(
                f"{schedule.cron!r} is not a cron schedule",
                where=f"{path}: schedules.{name}.cron",
                hint='write e.g. "0 3 * * *"',
            ) from None
        schedules[name] = schedule
    return schedules


def deployments(schedules: dict[str, Schedule]) -> list[Any]:
    """Return the deployments: one for each schedule, and ``on-demand``."""
    from flows.flow import pipeline  # here: as above

    scheduled = [
        pipeline.to_deployment(
            name=name,
            cron=schedule.cron,
            parameters={"target": schedule.target, "snapshots": schedule.snapshots},
        )
        for name, schedule in schedules.items()
    ]
    return [*scheduled, pipeline.to_deployment(name="on-demand")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the process ends; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m flows.serve", description="Serve the pipeline's scheduled deployments.")
    parser.add_argument("--port", type=int, default=4200, help="port of the server that it starts")
    chosen = parser.parse_args(arguments)
    try:
        root = find_root()
        os.environ["HEARSIGHT_ROOT"] = str(root)  # the runs are processes of this one: they run its project and no other
        configure_prefect(root)
        schedules = read_schedules(root)
        with prefect_server(root, chosen.port) as url:
            from prefect import serve  # here: as above

            for name, schedule in schedules.items():
                print(f"pipeline/{name}: {schedule.cron} UTC, {schedule.target or 'everything'} ({url})", flush=True)
            serve(*deployments(schedules), limit=1)
    except HearsightError as error:
        print(f"hearsight: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
