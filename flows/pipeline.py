"""``python -m flows.pipeline [--target STAGE@DATASET]``: the whole graph as a Prefect flow, with no server at hand.

With ``PREFECT_API_URL`` the run is told to that server; without, a server of the run's own comes and goes with it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from components.core.errors import HearsightError
from components.core.graph import find_root
from flows.settings import configure_prefect


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the flow; 0 when everything is up to date, 2 when a stage failed."""
    parser = argparse.ArgumentParser(prog="python -m flows.pipeline", description="Run DVC's graph as a Prefect flow.")
    parser.add_argument("--target", default="", help="a stage's address; without it, everything")
    parser.add_argument("--pool", action="append", default=[], metavar="NAME=N", help="stages of a pool at once, e.g. cpu=2")
    chosen = parser.parse_args(arguments)
    try:
        root = find_root()
        pools = dict(_pool(text) for text in chosen.pool)
        configure_prefect(root)
        from flows.flow import pipeline

        number = pipeline(target=chosen.target, root=str(root), pools=pools)
    except HearsightError as error:
        print(f"hearsight: {error}", file=sys.stderr)
        return 2
    print(f"{number} stages are up to date")
    return 0


def _pool(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    if not name or not size.isdigit() or int(size) < 1:
        raise HearsightError(f"'{text}' is no pool size", where="--pool", hint="write NAME=N, e.g. cpu=2")
    return name, int(size)


if __name__ == "__main__":
    raise SystemExit(main())
