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
    parser.add_argument("--target", default="", help="a stage, e.g. filter@english; without it, all stages")
    parser.add_argument("--pool", action="append", default=[], metavar="NAME=N", help="concurrent stages of a pool, e.g. cpu=2")
    chosen = parser.parse_args(arguments)

    def run() -> None:
        pools = dict(_pool(text) for text in chosen.pool)
        os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")  # lines go to the run's log
        reach_server(find_root())
        from flows.flow import pipeline  # here: imports Prefect, which reads the settings above

        print(f"{pipeline(target=chosen.target, pools=pools)} stages are up to date")

    return report_errors(run, explain)


def _pool(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    if not name or not size.isdigit() or int(size) < 1:
        raise HearsightError(f"'{text}' is not a pool size", where="--pool", hint="write NAME=N, e.g. cpu=2")
    return name, int(size)


if __name__ == "__main__":
    run_program(main)
