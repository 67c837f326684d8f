"""A suite of clean data run by Great Expectations in an ephemeral context, and its Data Docs.

``expectations/<stage>.json`` holds types, arguments and a ``why`` each, and no generated ids. The context lives in
memory: nothing of Great Expectations' own bookkeeping is written but the static site.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.check.failures import Failure, quote
from components.core.errors import HearsightError

if TYPE_CHECKING:
    import pandas as pd

REDIRECT = '<!doctype html><meta charset=utf-8><meta http-equiv=refresh content="0; url={page}"><a href="{page}">{page}</a>\n'
NAMING = ("file", "key")
"""Columns by which a bad row is told: where it lies, and what ``hearsight explain`` takes."""
KEEP_OUT = frozenset({"type", "why"})
"""Keys of an entry that are not arguments of the expectation; ``why`` becomes its note in Data Docs."""


def load_suite(path: Path, stage: str) -> dict[str, Any]:
    """Read a suite.

    Raises:
        HearsightError: it is missing, is not JSON, or an entry has no type or no reason.
    """
    try:
        suite = json.loads(path.read_text(encoding="utf-8"))
        if suite["boundary"] != stage:
            raise HearsightError(f"is of boundary '{suite['boundary']}', not '{stage}'", where=path, mend="restore it with git")
        for table, entries in suite["tables"].items():
            for number, entry in enumerate(entries):
                if missing := [name for name in ("type", "why") if not entry.get(name)]:
                    raise HearsightError(
                        f"{table}[{number}] has no {missing[0]}", where=path, mend="say what is expected, and why"
                    )
    except FileNotFoundError:
        raise HearsightError(
            "is missing", where=path, mend="every boundary has a suite: write one, or restore it with git"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HearsightError(f"is not a suite ({error!r})", where=path, mend="restore it with git") from None
    return suite


def validate(
    suite: Mapping[str, Any], path: Path, tables: Mapping[str, pd.DataFrame], docs: Path, name: str
) -> tuple[list[str], list[Failure]]:
    """Hold each table to its expectations and build the site.

    Returns:
        What passed (as ``table.expectation(columns)``) and what failed, in the suite's order.

    Raises:
        HearsightError: the suite itself is at fault: an unknown expectation, argument or column.
    """
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False, "metric_calculations": False}  # type: ignore[assignment]
    context.variables.data_docs_sites = {}
    source = context.data_sources.add_pandas(name.replace("/", " "))
    passed: list[str] = []
    failed: list[Failure] = []
    for table, entries in suite["tables"].items():
        expectations = [_expectation(entry, f"{table}[{number}]", path) for number, entry in enumerate(entries)]
        batch = source.add_dataframe_asset(table).add_batch_definition_whole_dataframe("whole")
        definition = gx.ValidationDefinition(
            name=table, data=batch, suite=context.suites.add(gx.ExpectationSuite(name=table, expectations=expectations))
        )
        outcome = context.validation_definitions.add(definition).run(
            batch_parameters={"dataframe": tables[table]},
            result_format={
                "result_format": "COMPLETE",
                "unexpected_index_column_names": [c for c in NAMING if c in tables[table]],
            },
        )
        # Results come grouped by column: put them back into the suite's order.
        results: dict[Any, Any] = {getattr(result.expectation_config, "id", None): result for result in outcome.results}
        for entry, expectation in zip(entries, expectations, strict=True):
            result = results[expectation.id]
            if result.success:
                passed.append(f"{table}.{entry['type']}({_columns(entry)})")
            else:
                failed.append(_failure(table, entry, result, tables[table], path))
    _build_docs(context, docs, list(suite["tables"]))
    return passed, failed


def _expectation(entry: Mapping[str, Any], where: str, path: Path) -> Any:
    import great_expectations.expectations as known
    from great_expectations.compatibility.pydantic import ValidationError

    kind = "".join(part.capitalize() for part in entry["type"].split("_"))
    try:
        return getattr(known, kind)(notes=entry["why"], **{k: v for k, v in entry.items() if k not in KEEP_OUT})
    except AttributeError:
        raise HearsightError(f"{where}: there is no expectation '{entry['type']}'", where=path, mend="mend its type") from None
    except (ValidationError, TypeError, ValueError) as error:
        raise HearsightError(
            f"{where}: {entry['type']} does not take that ({error})", where=path, mend="mend its arguments"
        ) from None


def _columns(entry: Mapping[str, Any]) -> str:
    names = [entry[key] for key in ("column", "column_A", "column_B") if key in entry]
    return ", ".join([*names, *entry.get("column_list", [])])


def _arguments(entry: Mapping[str, Any]) -> str:
    skipped = KEEP_OUT | {"column", "column_A", "column_B", "column_list"}
    return ", ".join(f"{key} {json.dumps(value)}" for key, value in entry.items() if key not in skipped)


def _failure(table: str, entry: Mapping[str, Any], result: Any, frame: pd.DataFrame, path: Path) -> Failure:
    for info in _exceptions(result.exception_info):
        raise HearsightError(f"{entry['type']} cannot be run on {table}: {info}", where=path, mend="mend its column or arguments")
    rows = result.result.get("unexpected_index_list") or []
    files = list(dict.fromkeys(row["file"] for row in rows))
    column = _columns(entry)
    if rows:
        values = [_value(row, column) for row in rows]
        spread = f" in {len(files)} files" if len(files) > 1 else ""
        first = f" (key {rows[0]['key']})" if "key" in rows[0] and column != "key" else ""
        detail = f"{len(rows)} of {len(frame)} rows{spread}: {quote(values)}{first}"
    else:
        detail = f"found {quote([result.result.get('observed_value')])}"
    if asked := _arguments(entry):
        detail += f" (asked: {asked})"
    return Failure(files[0] if files else _whole(table, frame), column, entry["type"], detail, entry["why"], table)


def _value(row: Mapping[str, Any], column: str) -> Any:
    asked = column.split(", ")
    values = [value for name, value in row.items() if name in asked]
    return values[0] if len(values) == 1 else tuple(v.item() if hasattr(v, "item") else v for v in values)


def _whole(table: str, frame: pd.DataFrame) -> str:
    """The file of an expectation about a whole table: the only one there is, or their folder."""
    files = sorted(set(frame["file"]))
    return files[0] if len(files) == 1 else ("ledger" if table == "ledger" else "shards")


def _exceptions(info: Mapping[str, Any] | None) -> list[str]:
    """Great Expectations nests this by metric when a metric failed, and not otherwise."""
    nested = [info] if info and "raised_exception" in info else [v for v in (info or {}).values() if isinstance(v, Mapping)]
    return [" ".join(str(item["exception_message"]).split()) for item in nested if item.get("raised_exception")]


def _build_docs(context: Any, docs: Path, names: list[str]) -> None:
    """Build the site beside the old one and change them over; ``<table>.html`` leads to each table's result page.

    Great Expectations puts the time into a result page's path; the pages that lead there have a path one can print.
    """
    fresh = docs.parent / f".{docs.name}.{os.getpid()}.tmp"
    shutil.rmtree(fresh, ignore_errors=True)
    backend = {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(fresh.resolve())}
    site = {
        "class_name": "SiteBuilder",
        "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
        "store_backend": backend,
    }
    try:
        context.add_data_docs_site("boundary", site)
        context.build_data_docs(site_names=["boundary"])
        for name in names:
            page = next((fresh / "validations" / name).rglob("*.html")).relative_to(fresh).as_posix()
            (fresh / f"{name}.html").write_text(REDIRECT.format(page=page), encoding="utf-8")
        shutil.rmtree(docs, ignore_errors=True)
        fresh.replace(docs)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
