"""``python -m flows.pipeline [--target STAGE@DATASET]``: run DVC's graph as a Prefect flow, and show its progress.

The run is reported to the server of ``PREFECT_API_URL``; without it, to a temporary one with the database that ``make ui`` shows.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from components.core.errors import HearsightError
from components.core.graph import find_root
from components.core.streams import report_errors, run_program
from flows.server import explain, reach_server


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the flow; return 0 when all stages are up to date, 2 when a stage failed."""
    parser = argparse.ArgumentParser(prog="python -m flows.pipeline", description="Run DVC's graph as a Prefect flow.")
    parser.add_argument("--target", default="", help="stages, e.g. 'filter@english split@stamps'; without it, all")
    parser.add_argument("--pool", action="append", default=[], metavar="NAME=N", help="concurrent stages of a pool, e.g. cpu=2")
    parser.add_argument("--expect", action="append", default=[], metavar="STAGE=N", help="seconds of a stage that never ran")
    chosen = parser.parse_args(arguments)

    def run() -> None:
        pools = dict(_number(text, "--pool", "NAME=N, e.g. cpu=2") for text in chosen.pool)
        expected: dict[str, float] = dict(_number(text, "--expect", "STAGE=N, e.g. filter@english=90") for text in chosen.expect)
        os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")  # lines go to the run's log
        reach_server(find_root())
        from flows.flow import pipeline  # here: imports Prefect, which reads the settings above

        print(f"{pipeline(target=chosen.target, pools=pools, expected=expected)} stages are up to date")

    return report_errors(run, explain)


def _number(text: str, option: str, form: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not name or not number.isdigit() or int(number) < 1:
        raise HearsightError(f"'{text}' names no number of at least 1", where=option, hint=f"write {form}")
    return name, int(number)


if __name__ == "__main__":
    run_program(main)
