"""``hearsight run`` and ``hearsight check``. Imports are inside the functions: ``dvc repro`` starts one for every stage."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from components.core.check_warnings import CheckWarning


IMPORT_TORCH = (
    "build_search_index",
    "evaluate_captioners",
    "evaluate_retrieval",
    "finetune_retrieval",
    "pretrain_retrieval",
    "train_captioner",
)
"""Stages that run in forks of a process which has imported torch and Lightning: their imports take 2 to 8 seconds."""
KILLED = 128 + signal.SIGKILL
"""Exit code of shells for a command that SIGKILL ended."""


def run(stage: str, dataset: str) -> int:
    """Run a stage and check its output; return the exit code."""
    from components.execution.process import die_with_ancestor

    die_with_ancestor("dvc")  # before the slow imports: a dvc that is killed during them would not be noticed
    if stage not in IMPORT_TORCH:
        return run_here(stage, dataset)
    from components.cli.preload import import_for_trainings
    from components.core.addresses import find_root
    from components.core.printing import print_error
    from components.execution.warm_client import ForkLost, run_warm

    try:
        code = run_warm(find_root(), import_for_trainings, run_in_fork, [stage, dataset])
    except ForkLost:
        print_error(f"{stage} of {dataset}: its process was killed; look for a lack of memory (dmesg), and run again")
        return KILLED
    return run_here(stage, dataset) if code is None else int(code)


def run_here(stage: str, dataset: str) -> int:
    """Run a stage in this process and check its output; return the exit code."""
    from components.core.addresses import find_root
    from components.core.printing import print_line
    from components.execution.runner import run_stage, summary
    from components.tracking import recorder

    root = find_root()
    result = run_stage(root, stage, dataset, recorder, check_draft)
    _print_warnings(root, stage, dataset, result.warnings)
    print_line(summary(result))
    return 0


def run_in_fork(arguments: list[str]) -> int:
    """Run a stage as its process would; return the exit code."""
    from components.core.streams import report_errors, run_program

    try:
        run_program(lambda: report_errors(lambda: run_here(*arguments)))
    except SystemExit as ended:
        return int(ended.code or 0)
    except BaseException:  # a defect: Python would print it and end with 1
        traceback.print_exc()
        return 1


def check(stage: str, dataset: str) -> int:
    """Check a published output again; return the exit code."""
    from components.core.addresses import share_state
    from components.core.graph import find_root, load_graph
    from components.core.printing import print_line
    from components.core.stage_output import StageOutput

    root = find_root()
    share_state(root)
    graph = load_graph(root)
    graph.require(stage, dataset)
    StageOutput(graph.output(stage, dataset)).require_unchanged()
    summary, warnings = check_warm(root, dataset, stage, draft=False)
    _print_warnings(root, stage, dataset, warnings)
    print_line(summary)
    return 0


def check_draft(root: Path, dataset: str, stage: str) -> list[CheckWarning]:
    """Check what a stage has made; return its warnings. Raises HearsightError when it fails."""
    return check_warm(root, dataset, stage, draft=True)[1]


def check_warm(root: Path, dataset: str, stage: str, *, draft: bool) -> tuple[dict[str, Any], list[CheckWarning]]:
    """Check an output or its draft, in the background process if possible; return the check's summary and warnings.

    Great Expectations takes seconds to import; a background process imports it once for all checks.

    Raises:
        HearsightError: the output fails its check.
    """
    from components.cli.preload import import_for_checks
    from components.core.check_warnings import CheckWarning
    from components.core.errors import HearsightError
    from components.execution.warm_client import ForkLost, run_warm

    question = {"root": str(root), "dataset": dataset, "stage": stage, "draft": draft}
    try:
        answer = run_warm(root, import_for_checks, answer_here, question)
    except ForkLost:
        answer = None
    answer = answer or answer_here(question)
    if error := answer.get("error"):
        raise _why_empty(root, dataset, stage, draft=draft) or HearsightError(**error)
    return answer["summary"], [CheckWarning(**warning) for warning in answer["warnings"]]


def answer_here(question: dict[str, Any]) -> dict[str, Any]:
    """Check an output in this process; return the result, or the error, as JSON values."""
    from dataclasses import asdict

    from components.core.errors import HearsightError
    from components.stages.check import check as check_output

    try:
        passed = check_output(Path(question["root"]), question["dataset"], question["stage"], draft=question["draft"])
    except HearsightError as error:
        return {"error": {"what": error.what, "where": error.where, "hint": error.hint}}
    return {"summary": passed.summary(), "warnings": [asdict(warning) for warning in passed.warnings]}


def _why_empty(root: Path, dataset: str, stage: str, *, draft: bool) -> Exception | None:
    """Return the error that says what dropped every record, by the ledger; None for an output with records."""
    from components.core.addresses import draft_path
    from components.core.graph import load_graph
    from components.core.stage_output import StageOutput
    from components.tracking.emptied import why_empty

    graph = load_graph(root)
    folder = graph.output(stage, dataset)
    return why_empty(graph, stage, StageOutput(draft_path(folder) if draft else folder))


def _print_warnings(root: Path, stage: str, dataset: str, warnings: Sequence[CheckWarning]) -> None:
    """Print a line on standard error for each warning."""
    from components.core.addresses import docs_folder
    from components.core.printing import escape_controls

    page = docs_folder(root, dataset, stage) / "index.html"
    for warning in warnings:
        print(escape_controls(f"hearsight: warning: {warning.text}; see {page}"), file=sys.stderr)
    if warnings and (why := _why_empty(root, dataset, stage, draft=False)):
        print(f"hearsight: warning: {why}", file=sys.stderr)
