"""The console script: a fast path for ``run`` and ``check``, and all other commands by :mod:`components.cli.main`.

``dvc repro`` calls ``run`` and ``check`` a hundred times. In the form of dvc.yaml they skip the argument parser, whose import
takes half as long as they do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path


def main() -> None:
    """Run the command line; see :func:`report_errors`."""
    # All imports here: each command imports only what it needs.
    arguments = sys.argv[1:]
    fast = len(arguments) == 4 and arguments[0] in ("run", "check") and arguments[2] == "--dataset"
    if not fast or arguments[1].startswith("-"):
        from components.cli.main import main as parse_and_run

        return parse_and_run()
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


def run(stage: str, dataset: str) -> int:
    """Run a stage; return the exit code."""
    from components.execution.process import die_with_ancestor

    die_with_ancestor("dvc")  # before the slow imports: a dvc that is killed during them would not be noticed
    from components.core.addresses import find_root
    from components.core.printing import print_line
    from components.execution.runner import run_stage, summary
    from components.tracking import recorder

    print_line(summary(run_stage(find_root(), stage, dataset, recorder)))
    return 0


def check(stage: str, dataset: str) -> int:
    """Check an output, in the background process if possible; return the exit code."""
    from components.core.addresses import find_root
    from components.execution.process import die_with_ancestor
    from components.execution.warm_client import run_warm

    die_with_ancestor("dvc")
    root = find_root()
    # Great Expectations takes seconds to import; a background process imports it once for all checks.
    code = run_warm(root, "components.cli.check_server", (Path(__file__).with_name("check_server.py"),))
    return check_here(stage, dataset) if code is None else code


def check_here(stage: str, dataset: str) -> int:
    """Check an output in this process; return the exit code."""
    from components.core.graph import find_root, load_graph
    from components.core.printing import escape_controls, print_line
    from components.stages.check import check as check_boundary

    root = find_root()
    load_graph(root).require(stage, dataset)
    gate = check_boundary(root, dataset, stage)
    for line in gate.warning_lines():
        print(escape_controls(line), file=sys.stderr)
    print_line(gate.summary())
    return 0


if __name__ == "__main__":
    main()
