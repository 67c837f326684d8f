"""Suites, run by Great Expectations in an ephemeral context.

``expectations/<stage>.json`` holds the type, arguments and reason (``why``) of each expectation, without ids. An entry with
``"severity": "warning"`` (Great Expectations' own field) does not fail the gate. The context lives in memory; its stores stay
empty.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from components.core.errors import HearsightError
from components.stages.check.failures import Failure, quote

ROW_ID_COLUMNS = ("file", "key")
"""Columns that identify a bad row: its file, and the key for ``hearsight explain``."""
SEVERITIES = ("critical", "warning")
NON_ARGUMENT_KEYS = frozenset({"type", "why"})
"""Keys of an entry that are not arguments of the expectation; ``why`` becomes its note in Data Docs."""


def load_suite(path: Path, stage: str) -> dict[str, Any]:
    """Return a suite; raise HearsightError if the file is missing or not JSON, or an entry has no type or no reason."""
    try:
        suite = json.loads(path.read_text(encoding="utf-8"))
        if suite["stage"] != stage:
            raise HearsightError(f"is the suite of '{suite['stage']}', not of '{stage}'", where=path, hint="restore it with git")
        for table, entries in suite["tables"].items():
            for number, entry in enumerate(entries):
                if missing := [name for name in ("type", "why") if not entry.get(name)]:
                    raise HearsightError(
                        f"{table}[{number}] has no {missing[0]}", where=path, hint="add the expectation's type and why"
                    )
                if entry.get("severity", "critical") not in SEVERITIES:
                    what = f"{table}[{number}] has severity '{entry['severity']}'"
                    raise HearsightError(what, where=path, hint="write 'warning', or leave it out")
    except FileNotFoundError:
        raise HearsightError(
            "is missing", where=path, hint="every stage has a suite: write one, or restore it with git"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HearsightError(f"is not a suite ({error!r})", where=path, hint="restore it with git") from None
    return suite


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


def validate(suite: Mapping[str, Any], path: Path, tables: Mapping[str, pd.DataFrame]) -> list[TableResult]:
    """Return the results of every table's expectations.

    Failed expectations are run a second time to list their bad rows; this is the slow part of a validation.

    Raises:
        HearsightError: the suite has an unknown expectation, argument or column.
    """
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    # Imported here: Great Expectations takes seconds to load, and its setting above must come first.
    import great_expectations as gx

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False, "metric_calculations": False}  # type: ignore[assignment]
    asset = context.data_sources.add_pandas("output").add_dataframe_asset("table")
    batch = asset.add_batch_definition_whole_dataframe("whole")
    return [_validate_table(table, entries, path, batch, tables[table]) for table, entries in suite["tables"].items()]


def _validate_table(table: str, entries: Sequence[Mapping[str, Any]], path: Path, batch: Any, frame: pd.DataFrame) -> TableResult:
    # GX's Validator, because a ValidationDefinition writes to the context's stores.
    from great_expectations.validator.v1_validator import Validator

    validator = Validator(batch, {"result_format": "BASIC"}, {"dataframe": frame})
    outcome = validator.validate_expectation_suite(_suite(table, entries, range(len(entries)), path))
    indices = {_number(result): index for index, result in enumerate(outcome.results)}
    unmet = [number for number in range(len(entries)) if not outcome.results[indices[str(number)]].success]
    if unmet:
        for number in unmet:
            for info in _exceptions(outcome.results[indices[str(number)]].exception_info):
                what = f"{entries[number]['type']} cannot be run on {table}: {info}"
                raise HearsightError(what, where=path, hint="fix its column or arguments")
        id_columns = [column for column in ROW_ID_COLUMNS if column in frame]
        validator.result_format = {"result_format": "COMPLETE", "unexpected_index_column_names": id_columns}
        for result in validator.validate_expectation_suite(_suite(table, entries, unmet, path)).results:
            outcome.results[indices[_number(result)]] = result
    judged = []
    for number, entry in enumerate(entries):
        result = outcome.results[indices[str(number)]]
        judged.append(ExpectationResult(table, entry, None if result.success else _failure(table, entry, result, frame)))
    return TableResult(table, judged, outcome)


def _number(result: Any) -> str:
    """Return the entry number that ``_suite`` set on a result's expectation."""
    return str(result.expectation_config.id)


def _suite(table: str, entries: Sequence[Mapping[str, Any]], numbers: Iterable[int], path: Path) -> Any:
    """Return entries as a Great Expectations suite, each with its number as id, because results come back in another order."""
    # Imported here: Great Expectations takes seconds to load, and its setting above must come first.
    import great_expectations as gx

    chosen = list(numbers)
    suite = gx.ExpectationSuite(
        name=table, expectations=[_expectation(entries[number], f"{table}[{number}]", path) for number in chosen]
    )
    for number, expectation in zip(chosen, suite.expectations, strict=True):
        expectation.id = str(number)
    return suite


def _expectation(entry: Mapping[str, Any], where: str, path: Path) -> Any:
    # Imported here: Great Expectations takes seconds to load, and its setting above must come first.
    import great_expectations.expectations as expectations
    from great_expectations.compatibility.pydantic import ValidationError

    kind = "".join(part.capitalize() for part in entry["type"].split("_"))
    arguments = {key: value for key, value in entry.items() if key not in NON_ARGUMENT_KEYS}
    if entry.get("severity") == "warning":
        # Data Docs shows no severity, but it shows a description, as HTML, in place of the generated sentence.
        description = (
            f"Warning, does not fail the gate: {columns_of(entry)} {entry['type']} ({arguments_of(entry)}). {entry['why']}"
        )
        arguments["description"] = html.escape(description, quote=False).replace("$", "$$")
    try:
        return getattr(expectations, kind)(notes=entry["why"], **arguments)
    except AttributeError:
        raise HearsightError(f"{where}: there is no expectation '{entry['type']}'", where=path, hint="fix its type") from None
    except (ValidationError, TypeError, ValueError) as error:
        raise HearsightError(
            f"{where}: {entry['type']} has invalid arguments ({error})", where=path, hint="fix its arguments"
        ) from None


def columns_of(entry: Mapping[str, Any]) -> str:
    """Return the columns of an entry, separated by commas; empty for a whole table."""
    names = [entry[key] for key in ("column", "column_A", "column_B") if key in entry]
    return ", ".join([*names, *entry.get("column_list", [])])


def arguments_of(entry: Mapping[str, Any]) -> str:
    """Return an entry's arguments as text, without its columns."""
    skipped = NON_ARGUMENT_KEYS | {"severity", "column", "column_A", "column_B", "column_list"}
    return ", ".join(f"{key} {json.dumps(value)}" for key, value in entry.items() if key not in skipped)


def _failure(table: str, entry: Mapping[str, Any], result: Any, frame: pd.DataFrame) -> Failure:
    rows = result.result.get("unexpected_index_list") or []
    files = list(dict.fromkeys(row["file"] for row in rows))
    column = columns_of(entry)
    if rows:
        values = [_value(row, column) for row in rows]
        spread = f" in {len(files)} files" if len(files) > 1 else ""
        first = f" (key {rows[0]['key']})" if "key" in rows[0] and column != "key" else ""
        detail = f"{len(rows)} of {len(frame)} rows{spread}: {quote(values)}{first}"
    else:
        detail = f"found {quote([result.result.get('observed_value')])}"
    if arguments := arguments_of(entry):
        detail += f" (expected: {arguments})"
    return Failure(files[0] if files else _table_file(table, frame), column, entry["type"], detail, entry["why"], table)


def _value(row: Mapping[str, Any], column: str) -> Any:
    columns = column.split(", ")
    values = [value for name, value in row.items() if name in columns]
    return values[0] if len(values) == 1 else tuple(v.item() if hasattr(v, "item") else v for v in values)


def _table_file(table: str, frame: pd.DataFrame) -> str:
    """Return the file of an expectation about a whole table: the only one, or their folder."""
    files = sorted(set(frame["file"]))
    return files[0] if len(files) == 1 else ("ledger" if table == "ledger" else "shards")


def _exceptions(info: Mapping[str, Any] | None) -> list[str]:
    """Return the exception messages, which Great Expectations nests by metric only if a metric failed."""
    nested = [info] if info and "raised_exception" in info else [v for v in (info or {}).values() if isinstance(v, Mapping)]
    return [" ".join(str(item["exception_message"]).split()) for item in nested if item.get("raised_exception")]
