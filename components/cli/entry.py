"""The console script: a fast path for ``run`` and ``check``, and all other commands by :mod:`components.cli.main`.

``dvc repro`` calls ``run`` and ``check`` a hundred times. In the form of dvc.yaml they skip the argument parser, whose import
takes half as long as they do.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; errors that a user can fix are one line on standard error and exit code 2."""
    # All imports here: each command imports only what it needs.
    from components.core.errors import HearsightError

    arguments = sys.argv[1:]
    fast = len(arguments) == 4 and arguments[0] in ("run", "check") and arguments[2] == "--dataset"
    if not fast or arguments[1].startswith("-"):
        from components.cli.main import main as parse_and_run

        return parse_and_run()
    try:
        from components.cli.stages import check, run

        code = (run if arguments[0] == "run" else check)(arguments[1], arguments[3])
    except HearsightError as error:
        from components.core.printing import print_error

        print_error(str(error))
        code = 2
    except OSError as error:
        from components.core.files import explain_os_error
        from components.core.printing import print_error

        if (fault := explain_os_error(error)) is None:
            raise
        print_error(str(fault))
        code = 2
    raise SystemExit(code)


if __name__ == "__main__":
    main()
