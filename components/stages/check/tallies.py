"""The result of an expectation over the parts of a table, equal to its result on the whole table.

Great Expectations validates each part; counts are added, and bad rows are collected in the order of the whole table.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from copy import copy
from typing import Any

from components.stages.check.parts import Parts
from components.stages.check.verdicts import column_list

BAD_ROWS = 10_000
"""Bad rows of an expectation that are listed; all are counted."""
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
"""Expectations that judge each row by itself."""
UNIQUE = frozenset({"expect_column_values_to_be_unique", "expect_compound_columns_to_be_unique"})
"""Expectations that compare the rows with equal values of their columns."""
ROW_COUNT = "expect_table_row_count_to_be_between"


def way_of(entry: Mapping[str, Any], parts: Parts) -> tuple[str, ...]:
    """Return how an entry is validated; entries of one way share frames.

    ``rows``: part by part. ``unique`` and its columns: in parts that hold equal values together. ``count``: on the number of
    rows. ``whole``: on the needed columns of the whole table, which takes memory for them; no suite of this project needs it.
    """
    if parts.single is not None or entry["type"] in ONE_ROW:
        return ("rows",)
    if "row_condition" not in entry:
        if entry["type"] in UNIQUE:
            return ("unique", *column_list(entry))
        if entry["type"] == ROW_COUNT:
            return ("count",)
    return ("whole",)


class Tally:
    """The counts of one expectation over the parts, and its bad rows."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self.mostly = float(entry.get("mostly", 1.0))
        self.results: list[Any] = []
        """The result of the first part, or of the only one."""
        self.parts = 0
        self.counts = {"element_count": 0, "unexpected_count": 0, "missing_count": 0}
        self.files: list[str] = []
        """Files of the bad rows; that of the first row first."""
        self._partial: list[Any] = []
        self._bad: list[tuple[Any, Any, dict[str, Any]]] = []
        self._format: Any = {"result_format": "BASIC"}

    def add(self, result: Any) -> None:
        """Add the ``BASIC`` result of one part."""
        self.parts += 1
        if not self.results:
            self.results = [result]
        for name in self.counts:
            self.counts[name] += result.result.get(name) or 0
        self._partial += result.result.get("partial_unexpected_list") or []

    @property
    def success(self) -> bool:
        """Return whether the expectation is met by the whole table."""
        if self.parts == 1:
            return bool(self.results[0].success)
        considered = self.counts["element_count"] - self.counts["missing_count"]
        # The formula of great_expectations.expectations.expectation._mostly_success
        return not considered or (float(considered) - float(self.counts["unexpected_count"])) / float(considered) >= self.mostly

    def add_bad_rows(self, result: Any, result_format: Any) -> None:
        """Add the ``COMPLETE`` result of one part; of an expectation with one part it replaces the first result."""
        self._format = result_format
        rows = result.result.get("unexpected_index_list") or []
        self.files = list(dict.fromkeys([*self.files, *(row["file"] for row in rows)]))
        if self.parts == 1:
            self.results = [result]
            return
        if rows:
            query = result.result["unexpected_index_query"]
            labels = ast.literal_eval(query[query.index("[") : query.rindex("]") + 1])
            self._bad += zip(labels, result.result["unexpected_list"], rows, strict=True)
            self._bad.sort(key=lambda bad: bad[0])
            del self._bad[BAD_ROWS:]

    def result(self) -> Any:
        """Return Great Expectations' result for the whole table."""
        if self.parts == 1:
            self.results[0].result.pop("unexpected_index_query", None)
            return self.results[0]
        # Imported here: Great Expectations takes seconds to load.
        from great_expectations.expectations.expectation import _format_map_output
        from great_expectations.expectations.expectation_configuration import parse_result_format

        listed = bool(self._bad)
        if listed:
            first = self._bad[0][2]["file"]
            self.files = [first, *(file for file in self.files if file != first)]
        has_missing = "missing_count" in self.results[0].result
        made = _format_map_output(
            result_format=parse_result_format(self._format),
            success=self.success,
            element_count=self.counts["element_count"],
            nonnull_count=self.counts["element_count"] - self.counts["missing_count"] if has_missing else None,
            unexpected_count=self.counts["unexpected_count"],
            unexpected_list=[value for _, value, _ in self._bad] if listed else self._partial,
            unexpected_index_list=[row for _, _, row in self._bad] if listed else None,  # type: ignore[misc]
            unexpected_index_column_names=self._format.get("unexpected_index_column_names"),
        )
        result = copy(self.results[0])
        result.success, result.result = made["success"], made["result"]
        return result
