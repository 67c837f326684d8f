"""``hearsight run`` and ``hearsight check``. Imports are inside the functions: ``dvc repro`` starts them a hundred times."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


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
    from components.core.addresses import find_root, share_main_project
    from components.execution.process import die_with_ancestor
    from components.execution.warm_client import run_warm

    die_with_ancestor("dvc")
    root = find_root()
    share_main_project(root)
    # Great Expectations takes seconds to import; a background process imports it once for all checks.
    code = run_warm(root, "components.cli.check_server", (Path(__file__).with_name("check_server.py"),))
    return check_here(stage, dataset) if code is None else code


def check_here(stage: str, dataset: str) -> int:
    """Check an output in this process; return the exit code."""
    from components.core.graph import find_root, load_graph
    from components.core.printing import escape_controls, print_line
    from components.execution.run_log import FINISHED, STARTED, check_name, logged_run
    from components.stages.check import check as check_boundary

    root = find_root()
    load_graph(root).require(stage, dataset)
    with logged_run(root / ".hearsight", dataset, check_name(stage)) as log:
        log.write(STARTED, pid=os.getpid())
        began = time.monotonic()
        gate = check_boundary(root, dataset, stage)
        seconds = round(time.monotonic() - began, 3)
        log.write(FINISHED, seconds=seconds, expectations=len(gate.passed), warnings=len(gate.warnings))
    for line in gate.warning_lines():
        print(escape_controls(line), file=sys.stderr)
    print_line(gate.summary())
    return 0
