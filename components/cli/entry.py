"""The console script: a fast path for ``run`` and ``check``, and all other commands by :mod:`components.cli.main`.

``dvc repro`` calls ``run`` for every stage. In the form of dvc.yaml both skip the argument parser, whose import takes
half as long as they do.
"""

from __future__ import annotations

import sys

from components.cli.stages import check, run
from components.core.streams import report_errors, run_program, use_utf8


def main() -> None:
    """Run the command line; see :func:`components.core.streams.report_errors`."""
    use_utf8()  # first, since compiled modules cannot be imported from a path that the locale cannot encode
    # All imports here: each command imports only what it needs.
    arguments = sys.argv[1:]
    fast = len(arguments) == 4 and arguments[0] in ("run", "check") and arguments[2] == "--dataset"
    if not fast or arguments[1].startswith("-"):
        from components.cli.main import main as parse_and_run

        return parse_and_run()
    command = run if arguments[0] == "run" else check
    run_program(lambda: report_errors(lambda: command(arguments[1], arguments[3])))


if __name__ == "__main__":
    main()
