"""``python -m flows.rating DATASET [--target STAGE@DATASET]``: build rating items, wait for raters, evaluate their answers.

The ratings are in the application's database, so a flow that was ended and is started again waits for the rest only. Raters come
with the links of ``hearsight ratings invite``, to the application that ``hearsight app`` or ``make ui`` serves. This is the only
flow that names stages: ``build_rating_items`` and ``evaluate_ratings`` stand on either side of people.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.graph import find_root
from components.core.streams import report_errors, run_program
from flows.server import explain, reach_server

POLL = 60.0
"""Seconds between two looks at the progress."""
DAYS = 14.0
"""Days that a flow waits, as long as an invitation is valid."""


def run_command(root: Path, *words: str) -> list[str]:
    """Run a command of Hearsight and return its lines.

    Raises:
        HearsightError: it failed; with its error line.
    """
    # Here: Prefect reads its settings on import.
    from flows.commands import environment, error_line
    from flows.guard import run_guarded

    lines: list[str] = []
    command = [sys.executable, "-m", "components.cli.entry", *words]
    if run_guarded(command, cwd=root, env=environment("", ""), limit=3600, on_line=lines.append):
        raise HearsightError(error_line(lines), where=f"hearsight {' '.join(words)}")
    return lines


def read_progress(root: Path, dataset: str) -> dict[str, Any]:
    """Return the line of ``hearsight ratings status`` of a dataset: ``wanted`` ratings, and ``ratings`` that count."""
    for line in run_command(root, "ratings", "status", "-d", dataset):
        if line.startswith("{"):
            progress: dict[str, Any] = json.loads(line)
            return progress
    raise HearsightError("printed no progress", where=f"hearsight ratings status -d {dataset}", hint="run it by hand")


def rate(dataset: str, target: str = "", poll: float = POLL, days: float = DAYS) -> None:
    """Run the flow ``rating``; ``target`` names stages to run afterwards, e.g. the split that the ratings clean."""
    # Here: as above.
    from prefect import flow, get_run_logger, task

    from flows.flow import pipeline

    root = find_root()

    @task(persist_result=False)
    def wait_for_ratings() -> None:
        """Wait until every item has as many ratings as asked for."""
        deadline, last = time.monotonic() + days * 86400, -1
        while (progress := read_progress(root, dataset))["ratings"] < progress["wanted"]:
            if progress["ratings"] != last:
                get_run_logger().info("%d of %d ratings", last := progress["ratings"], progress["wanted"])
            if time.monotonic() > deadline:
                what = (
                    f"{progress['wanted'] - progress['ratings']} of {progress['wanted']} ratings are missing after {days:g} days"
                )
                hint = "invite more raters and start the flow again: nothing is lost"
                raise HearsightError(what, where=f"ratings of {dataset}", hint=hint)
            time.sleep(poll)
        get_run_logger().info("all %d ratings are there", progress["wanted"])

    @flow(name="rating", flow_run_name=f"rating of {dataset}", persist_result=False)
    def rating() -> None:
        pipeline(target=f"build_rating_items@{dataset}")
        run_command(root, "ratings", "open", "-d", dataset)
        wait_for_ratings()
        for line in run_command(root, "ratings", "export", "-d", dataset):
            get_run_logger().info("%s", line)
        pipeline(target=f"evaluate_ratings@{dataset} {target}".strip())

    rating()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the flow; return 0 when the ratings are evaluated, 2 when something failed."""
    parser = argparse.ArgumentParser(prog="python -m flows.rating", description="Have a dataset's items rated, and evaluate.")
    parser.add_argument("dataset", help="a dataset with the stages build_rating_items and evaluate_ratings")
    parser.add_argument("--target", default="", help="stages to run afterwards, e.g. split@english_rated")
    parser.add_argument("--poll", type=float, default=POLL, metavar="SECONDS", help="time between two looks at the progress")
    parser.add_argument("--days", type=float, default=DAYS, help="how long to wait for the raters")
    chosen = parser.parse_args(arguments)

    def run() -> None:
        reach_server(find_root())
        rate(chosen.dataset, chosen.target, chosen.poll, chosen.days)

    return report_errors(run, explain)


if __name__ == "__main__":
    run_program(main)
