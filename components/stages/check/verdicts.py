"""Results of expectations: what was met, and the failure of what was not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.stages.check.failures import Failure, quote

NON_ARGUMENT_KEYS = frozenset({"type", "why", "except"})
"""Keys of an entry that are not arguments of the expectation; ``why`` becomes its note in Data Docs."""


@dataclass(frozen=True)
class ExpectationResult:
    """An entry of a suite and its result."""

    table: str
    entry: Mapping[str, Any]
    failure: Failure | None

    @property
    def is_warning(self) -> bool:
        """Return whether a failure of the entry is a warning only."""
        return self.entry.get("severity") == "warning"

    @property
    def name(self) -> str:
        """Return ``table.expectation(columns)``."""
        return f"{self.table}.{self.entry['type']}({columns_of(self.entry)})"


@dataclass(frozen=True)
class TableResult:
    """The entries of one table, in the suite's order, and Great Expectations' result for rendering."""

    table: str
    judged: list[ExpectationResult]
    outcome: Any


def columns_of(entry: Mapping[str, Any]) -> str:
    """Return the columns of an entry, separated by commas; empty for a whole table."""
    return ", ".join(column_list(entry))


def column_list(entry: Mapping[str, Any]) -> list[str]:
    """Return the columns of an entry."""
    names = [entry[key] for key in ("column", "column_A", "column_B") if key in entry]
    return [*names, *entry.get("column_list", [])]


def arguments_of(entry: Mapping[str, Any]) -> str:
    """Return an entry's arguments as text, without its columns."""
    skipped = NON_ARGUMENT_KEYS | {"severity", "column", "column_A", "column_B", "column_list"}
    return ", ".join(f"{key} {json.dumps(value)}" for key, value in entry.items() if key not in skipped)


def describe_failure(
    table: str, entry: Mapping[str, Any], result: Mapping[str, Any], files: list[str], count: int, home: str
) -> Failure:
    """Return the failure of an entry.

    Args:
        table: the table's name.
        entry: of the suite.
        result: Great Expectations' result.
        files: files of the bad rows, that of the first row first.
        count: rows of the table.
        home: the file or folder of the table, for an expectation without bad rows.
    """
    rows = result.get("unexpected_index_list") or []
    column = columns_of(entry)
    if rows:
        unexpected = result["unexpected_count"]
        spread = f" in {len(files)} files" if len(files) > 1 else ""
        first = f" (key {rows[0]['key']})" if "key" in rows[0] and column != "key" else ""
        among = f", of the first {len(rows)}" if len(rows) < unexpected else ""
        detail = f"{unexpected} of {count} rows{spread}: {quote([_value(row, column) for row in rows])}{among}{first}"
    else:
        detail = f"found {quote([result.get('observed_value')])}"
    if arguments := arguments_of(entry):
        detail += f" (expected: {arguments})"
    return Failure(files[0] if files else home, column, entry["type"], detail, entry["why"], table)


def _value(row: Mapping[str, Any], column: str) -> Any:
    columns = column.split(", ")
    values = [value for name, value in row.items() if name in columns]
    return values[0] if len(values) == 1 else tuple(v.item() if hasattr(v, "item") else v for v in values)
