"""``python -m components.cli.check_server``: serve ``hearsight check`` from a process that has imported Great Expectations.

Started by the first check of a project and asked by the others; see :mod:`components.execution.warm_client`.
"""

# ruff: noqa: F401 - what is imported is wanted in memory, not here
from __future__ import annotations

import os
import sys

from components.execution.warm_server import serve


def preload() -> None:
    """Import what a check needs. Every fork imports the project's own modules anew."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations
    import great_expectations.expectations
    import pandas
    import pyarrow.compute
    import pyarrow.dataset
    import pyarrow.pandas_compat
    import pyarrow.parquet
    import tqdm
    import typer
    import yaml

    tqdm.tqdm.monitor_interval = 0  # its first bar would start a thread, and a process with threads cannot be forked

    # One check of a small table imports what great_expectations leaves for later, and compiles its templates.
    from components.stages.check import warm

    warm()


def command() -> int:
    """Run the client's command line; returns its exit code."""
    from components.cli.entry import main

    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


if __name__ == "__main__":
    serve(sys.argv[1], (int(sys.argv[2]), sys.argv[3]), preload, command)
