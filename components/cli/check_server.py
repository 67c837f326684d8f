"""``python -m components.cli.check_server``: server of checks that has imported Great Expectations.

The first check of a project starts it; see :mod:`components.execution.warm_client`.
"""

# ruff: noqa: F401 - modules are imported to be in memory
from __future__ import annotations

import os
import sys
from typing import Any

import pyarrow.compute
import pyarrow.dataset
import pyarrow.pandas_compat
import pyarrow.parquet
import yaml

from components.execution.warm_server import serve


def preload() -> None:
    """Import the libraries of a check; every fork imports the project's modules again."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations
    import great_expectations.expectations
    import pandas
    import tqdm
    import typer

    tqdm.tqdm.monitor_interval = 0  # its first bar would start a thread, and a process with threads cannot be forked

    # A check of a small table completes the lazy imports of great_expectations and compiles its templates.
    from components.stages.check import warm

    warm()


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Return the result of the check that a client asks for."""
    from components.cli.stages import answer_here  # here: imported again in every fork

    return answer_here(question)


if __name__ == "__main__":
    serve(sys.argv[1], (int(sys.argv[2]), sys.argv[3]), preload, answer)
