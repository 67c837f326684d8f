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
        code = (run if words[0] == "run" else check)(words[1], words[3])
    except HearsightError as error:
        from components.core.printing import warn

        warn(str(error))
        code = 2
    except OSError as error:
        from components.core.files import system_fault
        from components.core.printing import warn

        if (fault := system_fault(error)) is None:
            raise
        warn(str(fault))
        code = 2
    raise SystemExit(code)


def run(stage: str, dataset: str) -> int:
    """``hearsight run``; returns the exit code."""
    from components.execution.process import die_with_ancestor

    die_with_ancestor("dvc")  # before the imports, which take a moment: a dvc killed meanwhile is not seen to be gone
    from components.core.addresses import find_root
    from components.core.printing import print_line
    from components.execution.runner import run_stage, summary

    print_line(summary(run_stage(find_root(), stage, dataset)))
    return 0


def check(stage: str, dataset: str) -> int:
    """``hearsight check``, by the background process where there can be one; returns the exit code."""
    from pathlib import Path

    from components.core.addresses import find_root
    from components.execution.process import die_with_ancestor
    from components.execution.warm_client import run_warm

    die_with_ancestor("dvc")
    root = find_root()
    # Great Expectations takes seconds to import: a background process has done so once for all checks.
    code = run_warm(root, "components.cli.check_server", (Path(__file__).with_name("check_server.py"),))
    return check_here(stage, dataset) if code is None else code


def check_here(stage: str, dataset: str) -> int:
    """``hearsight check`` in this process; returns the exit code."""
    from components.core.graph import find_root, load_graph
    from components.core.printing import print_line, visible
    from components.stages.check import check as check_boundary

    root = find_root()
    load_graph(root).require(stage, dataset)
    gate = check_boundary(root, dataset, stage)
    for line in gate.warning_lines():
        print(visible(line), file=sys.stderr)
    print_line(gate.summary())
    return 0


if __name__ == "__main__":
    main()
