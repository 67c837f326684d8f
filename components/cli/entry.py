"""The console script: the two commands that ``dvc repro`` gives a hundred times, and all others by :mod:`components.cli.main`.

``run`` and ``check``, written as in dvc.yaml, go past the parser of arguments: its import costs as much as half of theirs.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; errors a person can act on are one line and exit code 2."""
    from components.core.errors import HearsightError

    words = sys.argv[1:]
    if len(words) != 4 or words[0] not in ("run", "check") or words[1].startswith("-") or words[2] != "--dataset":
        from components.cli.main import main as any_command

        return any_command()
    try:
        from components.cli.stages import check, run

        code = (run if words[0] == "run" else check)(words[1], words[3])
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
