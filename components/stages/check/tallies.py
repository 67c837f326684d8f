"""The result of an expectation over the parts of a table, equal to its result on the whole table.

Great Expectations validates each part; counts are added, and bad rows are collected in the order of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

BAD_ROWS = 10_000
"""Bad rows of an expectation over several parts that are listed; all are counted."""
ONE_ROW = frozenset(
    f"expect_{name}"
    for name in (
        "column_values_to_be_between",
        "column_values_to_be_in_set",
        "column_values_to_not_be_in_set",
        "column_values_to_be_null",
        "column_values_to_not_be_null",
        "column_values_to_match_regex",
        "column_values_to_not_match_regex",
        "column_values_to_match_regex_list",
        "column_values_to_not_match_regex_list",
        "column_value_lengths_to_be_between",
        "column_value_lengths_to_equal",
        "column_pair_values_to_be_equal",
        "column_pair_values_to_be_in_set",
        "column_pair_values_a_to_be_greater_than_b",
    )
)
"""Expectations that judge each row by itself, so that parts can be validated one by one; others need their columns whole."""


class Tally:
    """The counts of one expectation over the parts, and its bad rows."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self.mostly = float(entry.get("mostly", 1.0))
        self.first: Any = None
        """The result of the first part."""
        self.parts = 0
        self.counts = {"element_count": 0, "unexpected_count": 0, "missing_count": 0}
        self.files: list[str] = []
        """Files of the bad rows, in their order."""
        self._values: list[Any] = []
        self._rows: list[dict[str, Any]] = []
        self._format: Any = {"result_format": "BASIC"}

    def add(self, result: Any) -> None:
        """Add the ``BASIC`` result of one part."""
        self.parts += 1
        self.first = self.first or result
        for name in self.counts:
            self.counts[name] += result.result.get(name) or 0
        self._values += result.result.get("partial_unexpected_list") or []

    @property
    def success(self) -> bool:
        """Return whether the expectation is met by the whole table."""
        if self.parts == 1:
            return bool(self.first.success)
        considered = self.counts["element_count"] - self.counts["missing_count"]
        # The formula of great_expectations.expectations.expectation._mostly_success
        return not considered or (float(considered) - float(self.counts["unexpected_count"])) / float(considered) >= self.mostly

    def add_bad_rows(self, result: Any, result_format: Any) -> None:
        """Add the ``COMPLETE`` result of one part; of an expectation with one part it replaces the first result."""
        rows = result.result.get("unexpected_index_list") or []
        self.files = list(dict.fromkeys([*self.files, *(row["file"] for row in rows)]))
        if self.parts == 1:
            self.first = result
        elif rows:
            self._values = [*(self._values if self._rows else []), *result.result["unexpected_list"]][:BAD_ROWS]
            self._rows = [*self._rows, *rows][:BAD_ROWS]
            self._format = result_format

    def result(self) -> Any:
        """Return Great Expectations' result for the whole table."""
        if self.parts == 1:
            return self.first
        # Imported here: Great Expectations takes seconds to load.
        from great_expectations.expectations.expectation import _format_map_output
        from great_expectations.expectations.expectation_configuration import parse_result_format

        counts = self.counts
        result = copy(self.first)
        made = _format_map_output(
            result_format=parse_result_format(self._format),
            success=self.success,
            element_count=counts["element_count"],
            nonnull_count=counts["element_count"] - counts["missing_count"] if "missing_count" in result.result else None,
            unexpected_count=counts["unexpected_count"],
            unexpected_list=self._values,
            unexpected_index_list=self._rows or None,  # type: ignore[arg-type]
            unexpected_index_column_names=self._format.get("unexpected_index_column_names"),
        )
        result.success, result.result = made["success"], made["result"]
        return result
