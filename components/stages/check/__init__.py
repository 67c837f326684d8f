"""Check of one output against its manifest, its schema and its expectations.

Not in scope: repairing an output, and rules that select records (those are the stages' and leave ledger rows). A check never
writes data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from components.core.addresses import docs_folder, draft_path
from components.core.check_warnings import CheckWarning
from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.manifest import NAME
from components.core.stage_output import StageOutput
from components.stages.check.failures import as_error
from components.stages.check.integrity import inspect

__all__ = ["Passed", "check", "warm"]


@dataclass(frozen=True)
class Passed:
    """A passed check: the output by digest, and the expectations that were met."""

    output: str
    manifest_sha256: str
    passed: list[str]
    docs: Path
    warnings: list[CheckWarning] = field(default_factory=list)
    """Unmet expectations of severity ``warning``."""

    def summary(self) -> dict[str, str | int]:
        """Return the facts that ``hearsight check`` prints."""
        return {
            "checked": self.output,
            "digest": self.manifest_sha256[:12],
            "expectations": len(self.passed),
            "warnings": len(self.warnings),
            "docs": str(self.docs),
        }


def check(root: Path, dataset: str, stage: str, *, draft: bool = False, rows: int | None = None) -> Passed:
    """Check ``data/<dataset>/<stage>``, or its draft, and write its Data Docs.

    Compares every file with the manifest, then each shard with its Arrow schema, and then runs ``expectations/<stage>.json``.
    Outputs of more than ``rows`` records (:data:`~components.stages.check.parts.ROWS`) are checked in parts, with equal results.

    Raises:
        HearsightError: one line with the file, the column, the expectation, the values and the Data Docs page.
    """
    docs, folder = docs_folder(root, dataset, stage), root / "data" / dataset / stage
    output = StageOutput(draft_path(folder) if draft else folder)
    manifest = output.manifest
    if failures := inspect(output, stage):
        raise as_error(failures, root, docs / "integrity.html", output, suite=None)

    # Great Expectations is imported late, so damaged files are reported at once.
    from components.stages.check.pages import build
    from components.stages.check.parts import ROWS
    from components.stages.check.suites import load_suite, validate
    from components.stages.check.tables import build_tables

    suite_path = root / "expectations" / f"{stage}.json"
    read = sha256_file(suite_path) if suite_path.is_file() else ""
    suite = load_suite(suite_path, stage, dataset)
    tables = build_tables(output, suite, rows or ROWS)
    results = validate(suite, suite_path, tables)
    build(docs, output.name, results)
    judged = [verdict for result in results for verdict in result.judged]
    warnings = [verdict.failure.as_warning(output.name) for verdict in judged if verdict.failure and verdict.is_warning]
    if failed := [verdict.failure for verdict in judged if verdict.failure and not verdict.is_warning]:
        raise as_error(failed, root, docs / f"{failed[0].table}.html", output, suite=suite_path)
    passed = [verdict.name for verdict in judged if not verdict.failure]
    # DVC records the suite after the check has ended, and would take what was written meanwhile for what was checked.
    for path, digest in ((output.path / NAME, manifest.digest), (suite_path, read)):
        if not path.is_file() or sha256_file(path) != digest:
            raise HearsightError("changed while it was checked", where=path, hint="run the same command again")
    return Passed(output.name, manifest.digest, passed, docs / "index.html", warnings)


def warm() -> None:
    """Import what a check needs and compile the templates of Data Docs, in a process that forks checks."""
    # The server process imports them once; the checks that it forks import nothing.
    import pandas as pd

    from components.stages.check import tables  # noqa: F401
    from components.stages.check.pages import table_page
    from components.stages.check.parts import of_frame
    from components.stages.check.suites import validate

    entry = {"type": "expect_column_values_to_be_unique", "column": "key", "why": "it compiles the templates"}
    frame = pd.DataFrame({"file": ["a"], "key": ["a"]})
    for result in validate({"tables": {"shards": [entry]}}, Path("expectations"), {"shards": of_frame(frame)}):
        table_page(result)
