"""``python -m flows.serve``: deployments of the pipeline that fire on the schedules of ``params.yaml:schedules``.

One deployment a schedule (``pipeline/daily`` …) and ``pipeline/on-demand`` without one. They are served by this process,
one run at a time, for as long as it lives. With no ``PREFECT_API_URL`` it starts a server of its own first, on loopback.
"""

from __future__ import annotations

import argparse
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
    """When, as cron, UTC."""
    target: str = ""
    """What to bring up to date: a stage's address, or empty for everything."""
    snapshots: list[str] = []
    """Datasets whose crawl first moves on to a snapshot of the day (`hearsight snapshot next`)."""


def read_schedules(root: Path) -> dict[str, Schedule]:
    """``params.yaml:schedules``.

    Raises:
        HearsightError: an entry does not fit, or its cron makes no sense.
    """
    from prefect.client.schemas.schedules import CronSchedule
    from pydantic import ValidationError

    path = root / "params.yaml"
    found: dict[str, Schedule] = {}
    for name, block in (read_params_file(path).get("schedules") or {}).items():
        schedule = parse_settings(Schedule, block, f"{path}: schedules.{name}")
        assert isinstance(schedule, Schedule)
        try:
            CronSchedule(cron=schedule.cron)
        except ValidationError:
            where = f"{path}: schedules.{name}.cron"
            raise HearsightError(f"{schedule.cron!r} is no cron schedule", where=where, hint='write e.g. "0 3 * * *"') from None
        found[name] = schedule
    return found


def deployments(root: Path, schedules: dict[str, Schedule]) -> list[Any]:
    """The deployments to serve."""
    from flows.flow import pipeline

    made = [
        pipeline.to_deployment(
            name=name,
            cron=schedule.cron,
            parameters={"target": schedule.target, "root": str(root), "snapshots": schedule.snapshots},
        )
        for name, schedule in schedules.items()
    ]
    return [*made, pipeline.to_deployment(name="on-demand", parameters={"root": str(root)})]


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until ended."""
    parser = argparse.ArgumentParser(prog="python -m flows.serve", description="Serve the pipeline's scheduled deployments.")
    parser.add_argument("--port", type=int, default=4200, help="of the server it starts when there is none")
    chosen = parser.parse_args(arguments)
    try:
        root = find_root()
        configure_prefect(root)
        schedules = read_schedules(root)
        with prefect_server(root, chosen.port) as url:
            from prefect import serve

            for name, schedule in schedules.items():
                print(f"pipeline/{name}: {schedule.cron} UTC, {schedule.target or 'everything'} ({url})", flush=True)
            serve(*deployments(root, schedules), limit=1)
    except HearsightError as error:
        print(f"hearsight: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
