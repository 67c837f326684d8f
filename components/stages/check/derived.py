"""Tables that are counted from an output's shards and ledger: ``counts``, ``balance`` and ``by_<column>``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd
import pyarrow as pa

from components.core.ledger import KEPT, count_outcomes
from components.core.stage_output import StageOutput
from components.stages.check.parts import Parts, number_of_files, of_frame, scattered

ERROR_COUNT_COLUMNS = ("words", "word_errors", "characters", "character_errors")
"""Columns whose sums give error rates."""
ENTRY_COLUMNS = ["kind", "key", "verdict"]


def counts_table(output: StageOutput, ledgers: Iterable[pa.Table]) -> pd.DataFrame:
    """Return the numbers by kind and rule of the manifest beside those of the ledgers."""
    listed: Counter[tuple[str, str]] = Counter()
    for kind, bucket in output.manifest.counts.items():
        listed[kind, KEPT] += bucket["kept"]
        for rule, number in bucket["dropped"].items():
            listed[kind, rule] += number
    logged: Counter[tuple[str, str]] = Counter()
    for table in ledgers:
        logged += count_outcomes(table)
    rows = [("manifest.json", kind, rule, listed[kind, rule], logged[kind, rule]) for kind, rule in sorted(listed | logged)]
    return pd.DataFrame(rows, columns=["file", "kind", "rule", "manifest", "ledger"])


def balance_table(records: Parts, entries: Parts, name: str, files: Mapping[str, str]) -> pd.DataFrame:
    """Return the records of each shard without a ledger row, and the ledger's rows without a record or beyond the first.

    Args:
        records: with the columns ``file`` and ``name``.
        entries: the ledger, with ``file`` and :data:`ENTRY_COLUMNS`.
        name: ``record`` or ``key``: the ledger counts records, which may have several utterances.
        files: file of each shard → file of its ledger.
    """
    kinds = {str(kind) for _, held, in_shard in _matched(records, entries, name) for kind in held.loc[in_shard, "kind"].unique()}
    rows, unaccounted, lost, twice = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for shown, held, in_shard in _matched(records, entries, name):
        # The ledger also has kinds without rows here (pages at the crawl); only the rows' kinds can be lost.
        kept = (held["verdict"] == "kept") & held["kind"].isin(kinds)
        rows.update(shown["file"].value_counts().to_dict())
        unaccounted.update(shown.loc[~shown[name].isin(held.loc[kept, "key"]), "file"].value_counts().to_dict())
        lost.update(held.loc[kept & ~in_shard, "file"].value_counts().to_dict())
        twice.update(held.loc[held.duplicated(["kind", "key"]), "file"].value_counts().to_dict())
    table = [(file, rows[file], unaccounted[file], lost[ledger], twice[ledger]) for file, ledger in files.items()]
    return pd.DataFrame(table, columns=["file", "rows", "unaccounted", "lost", "twice"])


def _matched(records: Parts, entries: Parts, name: str) -> Iterator[tuple[pd.DataFrame, pd.DataFrame, pd.Series[bool]]]:
    """Yield records and ledger rows of the same keys, and which of the latter have a record."""
    number = number_of_files(max(records.count, entries.count), records.rows)
    if records.single is not None and entries.single is not None:
        pairs = iter([(records.single, entries.single)])
    else:
        # Both with the same number of files, so that equal keys meet.
        shown = scattered(iter(records), [name], ["file", name], number, records.folder)
        held = scattered(iter(entries), ["key"], ["file", *ENTRY_COLUMNS], number, entries.folder)
        pairs = zip(shown, held, strict=True)
    for one, other in pairs:
        yield one, other, other["key"].isin(one[name])


def by_table(column: str, records: Parts, names: list[str], folder: Path) -> Parts:
    """Return the table of ``column``'s values: rows, splits, and rates of errors where there are counts of them.

    Args:
        column: the column.
        records: of all shards, with ``file`` and ``names``.
        names: ``column``, ``split`` and those of :data:`ERROR_COUNT_COLUMNS` that the records have.
        folder: for temporary files.
    """
    if records.single is not None:
        return of_frame(_grouped(records.single, column).reset_index(), folder)

    def parts() -> Iterator[pd.DataFrame]:
        for rows in records.together([column], ["file", *names]):
            grouped = _grouped(rows, column)
            grouped.insert(0, column, grouped.index)
            yield grouped.rename_axis(index=None)

    return Parts(sum(len(part) for part in parts()), parts, folder, records.rows)


def _grouped(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    grouped = frame.groupby(column, sort=True)
    made = grouped.agg(file=("file", "first"), rows=("file", "size"), splits=("split", "nunique"))
    if set(ERROR_COUNT_COLUMNS) <= set(frame.columns):
        sums = frame[frame["word_errors"].notna()].groupby(column)[list(ERROR_COUNT_COLUMNS)].sum()
        made["words"] = sums["words"].reindex(made.index).fillna(0)
        for unit in ("word", "character"):
            made[f"{unit}_error_rate"] = (sums[f"{unit}_errors"] / sums[f"{unit}s"]).reindex(made.index)
    return made
