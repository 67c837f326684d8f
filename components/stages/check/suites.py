"""Suites, run by Great Expectations in an ephemeral context.

``expectations/<stage>.json`` holds the type, arguments and reason (``why``) of each expectation, without ids. An entry with
``"severity": "warning"`` (Great Expectations' own field) does not fail the check. The context lives in memory; its stores stay
empty.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from components.core.errors import HearsightError
from components.stages.check.parts import Parts
from components.stages.check.tallies import ONE_ROW, Tally
from components.stages.check.verdicts import (
    NON_ARGUMENT_KEYS,
    ExpectationResult,
    TableResult,
    arguments_of,
    column_list,
    columns_of,
    describe_failure,
)

ROW_ID_COLUMNS = ("file", "key")
"""Columns that identify a bad row: its file, and the key for ``hearsight explain``."""
SEVERITIES = ("critical", "warning")


def load_suite(path: Path, stage: str, dataset: str) -> dict[str, Any]:
    """Return a suite, without the entries whose ``except`` names the dataset.

    Raises:
        HearsightError: the file is missing or not JSON, or an entry has no type or no reason.
    """
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
            suite["tables"][table] = [entry for entry in entries if dataset not in entry.get("except", ())]
    except FileNotFoundError:
        raise HearsightError(
            "is missing", where=path, hint="every stage has a suite: write one, or restore it with git"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HearsightError(f"is not a suite ({error!r})", where=path, hint="restore it with git") from None
    return suite


def validate(suite: Mapping[str, Any], path: Path, tables: Mapping[str, Parts]) -> list[TableResult]:
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


def _validate_table(table: str, entries: Sequence[Mapping[str, Any]], path: Path, batch: Any, parts: Parts) -> TableResult:
    tallies = [Tally(entry) for entry in entries]
    by_row = [number for number, entry in enumerate(entries) if parts.single is not None or entry["type"] in ONE_ROW]
    ways = [numbers for numbers in (by_row, [n for n in range(len(entries)) if n not in by_row]) if numbers]
    outcome = None
    home = "ledger" if table == "ledger" else "shards"
    if parts.single is not None and len(files := set(parts.single["file"])) == 1:
        home = files.pop()
    for numbers in ways:
        for frame in parts if numbers is by_row else [_whole(parts, [entries[number] for number in numbers])]:
            made = _run(frame, batch, _suite(table, entries, numbers, path), {"result_format": "BASIC"})
            outcome = outcome or made
            for result in made.results:
                number = int(result.expectation_config.id)
                for info in [] if result.success else _exceptions(result.exception_info):
                    what = f"{entries[number]['type']} cannot be run on {table}: {info}"
                    raise HearsightError(what, where=path, hint="fix its column or arguments")
                tallies[number].add(result)
    for numbers in ways:
        if unmet := [number for number in numbers if not tallies[number].success]:
            for frame in parts if numbers is by_row else [_whole(parts, [entries[number] for number in unmet])]:
                id_columns = [column for column in ROW_ID_COLUMNS if column in frame]
                complete = {"result_format": "COMPLETE", "unexpected_index_column_names": id_columns}
                listing = complete | {"return_unexpected_index_query": False}
                for result in _run(frame, batch, _suite(table, entries, unmet, path), listing).results:
                    tallies[int(result.expectation_config.id)].add_bad_rows(result, complete)
    results = [tally.result() for tally in tallies]
    judged = []
    for entry, tally, result in zip(entries, tallies, results, strict=True):
        described = None if result.success else describe_failure(table, entry, result.result, tally.files, parts.count, home)
        judged.append(ExpectationResult(table, entry, described))
    return TableResult(table, judged, _with_results(outcome, entries, results))


def _whole(parts: Parts, entries: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the columns of all rows that entries need; all columns for those with a ``row_condition``."""
    columns = {name for entry in entries for name in column_list(entry)}
    conditional = any("row_condition" in entry for entry in entries)
    return parts.whole(
        next(iter(parts)).columns.tolist() if conditional else [*ROW_ID_COLUMNS, *columns.difference(ROW_ID_COLUMNS)]
    )


def _run(frame: pd.DataFrame, batch: Any, suite: Any, result_format: Any) -> Any:
    # GX's Validator, because a ValidationDefinition writes to the context's stores.
    from great_expectations.validator.v1_validator import Validator

    return Validator(batch, result_format, {"dataframe": frame}).validate_expectation_suite(suite)


def _with_results(outcome: Any, entries: Sequence[Mapping[str, Any]], results: Sequence[Any]) -> Any:
    """Return the outcome of one part with the results of the whole table, in Great Expectations' order: by column."""
    # Imported here: Great Expectations takes seconds to load.
    from great_expectations.validator.validator import calc_validation_statistics

    by_column: dict[str, list[Any]] = {}
    for entry, result in zip(entries, results, strict=True):
        by_column.setdefault(entry.get("column", ""), []).append(result)
    outcome.results = [result for group in by_column.values() for result in group]
    statistics = calc_validation_statistics(outcome.results)
    outcome.success, outcome.statistics = statistics.success, statistics._asdict()
    outcome.statistics.pop("success")
    return outcome


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
        expected = f"{columns_of(entry)} {entry['type']} ({arguments_of(entry)})"
        description = f"If not met, a warning that stops nothing: {expected}. {entry['why']}"
        arguments["description"] = html.escape(description, quote=False).replace("$", "$$")
    try:
        return getattr(expectations, kind)(notes=entry["why"], **arguments)
    except AttributeError:
        raise HearsightError(f"{where}: there is no expectation '{entry['type']}'", where=path, hint="fix its type") from None
    except (ValidationError, TypeError, ValueError) as error:
        raise HearsightError(
            f"{where}: {entry['type']} has invalid arguments ({error})", where=path, hint="fix its arguments"
        ) from None


def _exceptions(info: Mapping[str, Any] | None) -> list[str]:
    """Return the exception messages, which Great Expectations nests by metric only if a metric failed."""
    nested = [info] if info and "raised_exception" in info else [v for v in (info or {}).values() if isinstance(v, Mapping)]
    return [" ".join(str(item["exception_message"]).split()) for item in nested if item.get("raised_exception")]
