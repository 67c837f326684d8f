"""Tables that are counted from an output's shards and ledger: ``counts``, ``balance`` and ``by_<column>``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import pandas as pd
import pyarrow as pa

from components.core.ledger import KEPT, count_outcomes
from components.core.stage_output import StageOutput
from components.stages.check.parts import Parts

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
    shown, held = records.whole(["file", name]), entries.whole(["file", *ENTRY_COLUMNS])
    in_shard = held["key"].isin(shown[name])
    # The ledger also has kinds without rows here (pages at the crawl); only the rows' kinds can be lost.
    kept = (held["verdict"] == "kept") & held["kind"].isin(held.loc[in_shard, "kind"].unique())
    keyless = ~shown[name].isin(held.loc[kept, "key"])
    repeated = held.duplicated(["kind", "key"])
    counts = [frame["file"].value_counts() for frame in (shown, shown[keyless], held[kept & ~in_shard], held[repeated])]
    table = [
        (file, *(count.get(name, 0) for count, name in zip(counts, (file, file, ledger, ledger), strict=True)))
        for file, ledger in files.items()
    ]
    return pd.DataFrame(table, columns=["file", "rows", "unaccounted", "lost", "twice"])


def by_table(column: str, records: Parts, names: list[str]) -> pd.DataFrame:
    """Return the table of ``column``'s values: rows, splits, and rates of errors where there are counts of them.

    Args:
        column: the column.
        records: of all shards, with ``file`` and ``names``.
        names: ``column``, ``split`` and those of :data:`ERROR_COUNT_COLUMNS` that the records have.
    """
    frame = records.whole(["file", *names])
    grouped = frame.groupby(column, sort=True)
    made = grouped.agg(file=("file", "first"), rows=("file", "size"), splits=("split", "nunique"))
    if set(ERROR_COUNT_COLUMNS) <= set(frame.columns):
        sums = frame[frame["word_errors"].notna()].groupby(column)[list(ERROR_COUNT_COLUMNS)].sum()
        made["words"] = sums["words"].reindex(made.index).fillna(0)
        for unit in ("word", "character"):
            made[f"{unit}_error_rate"] = (sums[f"{unit}_errors"] / sums[f"{unit}s"]).reindex(made.index)
    return made.reset_index()
