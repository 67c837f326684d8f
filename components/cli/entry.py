"""The console script: a fast path for ``run`` and ``check``, and all other commands by :mod:`components.cli.main`.

``dvc repro`` calls ``run`` and ``check`` a hundred times. In the form of dvc.yaml they skip the argument parser, whose import
takes half as long as they do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable


def main() -> None:
    """Run the command line; see :func:`report_errors`."""
    # All imports here: each command imports only what it needs.
    arguments = sys.argv[1:]
    fast = len(arguments) == 4 and arguments[0] in ("run", "check") and arguments[2] == "--dataset"
    if not fast or arguments[1].startswith("-"):
        from components.cli.main import main as parse_and_run

        return parse_and_run()
    from components.cli.stages import check, run

    command = run if arguments[0] == "run" else check
    raise SystemExit(report_errors(lambda: command(arguments[1], arguments[3])))


def report_errors(command: Callable[[], int]) -> int:
    """Run a command and return its exit code; an error that a user can fix is one line on standard error, and 2."""
    # Here: as above.
    from components.core.errors import HearsightError
    from components.core.printing import print_error

    try:
        return command()
    except HearsightError as error:
        print_error(str(error))
    except OSError as error:
        from components.core.files import explain_os_error

        if (fault := explain_os_error(error)) is None:
            raise
        print_error(str(fault))
    return 2


if __name__ == "__main__":
    main()
