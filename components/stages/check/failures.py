"""Failures of a check: the error line, and a page for details."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from components.core.addresses import parse_output_name, stage_address
from components.core.check_warnings import CheckWarning
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.stage_output import StageOutput

SHOWN = 3
"""Bad values quoted in the message; the page lists more."""


@dataclass(frozen=True)
class Failure:
    """An expectation that was not met."""

    file: str
    """Path inside the output: ``shards/00000.parquet``; a folder if the failure concerns all of its files."""
    column: str
    """Empty if the failure concerns the whole file or table."""
    expectation: str
    detail: str
    why: str = ""
    table: str = "integrity"

    def as_warning(self, output: str) -> CheckWarning:
        """Return the failure as a warning of ``output``."""
        return CheckWarning(output, self.table, self.column, self.expectation, self.detail, self.why)


def quote(values: Sequence[object]) -> str:
    """Return a few values as text, each shortened, repeated ones once."""
    spelled = list(dict.fromkeys(_spell(value) for value in values))
    more = f" and {len(spelled) - SHOWN} more" if len(spelled) > SHOWN else ""
    return ", ".join(spelled[:SHOWN]) + more


def _spell(value: object) -> str:
    value = value.item() if hasattr(value, "item") else value
    if value is None or value != value:
        return "null"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…'"


def as_error(failures: Sequence[Failure], root: Path, page: Path, output: StageOutput, suite: Path | None) -> HearsightError:
    """Return the error that stops the pipeline; write ``page`` if Great Expectations has no page for the failure."""
    first = failures[0]
    if suite is None:
        publish_bytes(page, _page(failures, output.name).encode())
    subject = f"column '{first.column}' fails" if first.column else "fails"
    why = f" [{first.why.rstrip('.')}]" if first.why else ""
    more = f"; {len(failures) - 1} more" if len(failures) > 1 else ""
    hint = f"run `dvc repro -f -s {stage_address(*parse_output_name(output.name))}`"
    if suite is not None:
        hint = f"fix the stage, or the expectation in {_relative(suite, root)}"
    return HearsightError(
        f"{subject} {first.expectation}: {first.detail}{why}{more}; see {_relative(page, root)}",
        where=_relative(output.path / first.file, root),
        hint=hint,
    )


def _relative(path: Path, root: Path) -> str:
    return os.path.relpath(path, root)


def _page(failures: Sequence[Failure], name: str) -> str:
    """Return a plain page of disagreements with the manifest or the schema."""
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in (f.file, f.column, f.expectation, f.detail)) + "</tr>\n"
        for f in failures
    )
    return (
        f"<!doctype html><meta charset=utf-8><title>{html.escape(name)}: integrity</title>\n"
        "<style>body{font:15px/1.5 sans-serif;margin:2em}td,th{text-align:left;padding:.2em 1em .2em 0}</style>\n"
        f"<h1>{html.escape(name)}</h1><p>These do not agree with manifest.json or with components/core/records.py. "
        "The expectations were not run.</p>\n"
        f"<table><tr><th>file<th>column<th>expectation<th>found</tr>\n{rows}</table>\n"
    )
