"""``python -m flows.serve``: deployments of the pipeline that fire on the schedules of ``params.yaml:schedules``.

One deployment a schedule (``pipeline/daily`` …) and ``pipeline/on-demand`` without one. They are served by this process,
one run at a time, for as long as it lives. With no ``PREFECT_API_URL`` it starts a server of its own first, on loopback.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.graph import find_root
from components.core.params import Settings, parse_settings, read_params_file
from flows.settings import prepare

SERVER_PATIENCE = 180.0
"""Seconds a server may take to answer."""


class Schedule(Settings):
    """One entry of ``params.yaml:schedules``."""

    cron: str
    """When, as cron, UTC."""
    target: str
    """What to bring up to date: a stage's address, or empty for everything."""


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
            raise HearsightError(f"{schedule.cron!r} is no cron schedule", where=where, mend='write e.g. "0 3 * * *"') from None
        found[name] = schedule
    return found


@contextmanager
def server(root: Path, port: int) -> Iterator[str]:
    """The API's address: the one the environment names, or of a server that lives as long as this block."""
    if named := os.environ.get("PREFECT_API_URL"):
        yield named
        return
    log = root / ".hearsight" / "prefect-server.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    url = f"http://127.0.0.1:{port}/api"
    command = [sys.executable, "-m", "flows.guard", "1e9", str(os.getpid()), "--"]
    command += [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as handle:
        process = subprocess.Popen(command, cwd=root, stdout=handle, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            _await(url, process, log)
            os.environ["PREFECT_API_URL"] = url
            yield url
        finally:
            process.terminate()
            process.wait()


def _await(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + SERVER_PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise HearsightError("the Prefect server did not come up", where=log, mend="see that log; is the port taken? (--port)")


def deployments(root: Path, schedules: dict[str, Schedule]) -> list[Any]:
    """The deployments to serve."""
    from flows.flow import pipeline

    made = [
        pipeline.to_deployment(name=name, cron=schedule.cron, parameters={"target": schedule.target, "root": str(root)})
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
        prepare(root)
        schedules = read_schedules(root)
        with server(root, chosen.port) as url:
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
