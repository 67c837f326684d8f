"""Tables that a suite can name, built or counted from an output's shards, ledger and manifest.

| table | a row | columns |
|---|---|---|
| ``shards`` | a record | those of the record; a list column ``x`` becomes ``x_count``; ``listed_sha256`` (below) |
| ``ledger`` | a ledger row | those of the ledger; ``ruled``: ``yes`` if the row names a rule, else ``no`` |
| ``counts`` | a kind and rule | ``manifest`` and ``ledger``: the number in each (rule ``kept`` for kept records) |
| ``balance`` | a shard | ``rows``, ``unaccounted``, ``lost``, ``twice`` (below) |
| ``draws`` | a drawn parameter | ``test``, ``utterances``, ``outside``, ``p``: see ``draws.draws_table`` |
| ``voices`` | a voice | number and level of its utterances: see ``draws.voices_table`` |
| ``by_<column>`` | a value of that column | ``rows``, ``splits``: how many different splits hold it (below) |

In ``shards`` and ``ledger`` a column ``a+b`` holds the texts of both with a plus between: ``kept+no``.

In ``balance``, ``unaccounted`` counts records without a kept ledger row, ``lost`` kept ledger rows whose record no shard has,
``twice`` the ledger rows beyond the first for a key. Every table has a ``file`` column, the path inside the output that a message
names. ``listed_sha256`` is the manifest's digest of the file a record refers to (``weights`` of a model, ``path`` of a figure),
empty when the manifest does not list it; ``media_sha256`` is the digest of the record's own media when this output holds them.
``by_<column>`` of evaluated speech also has ``words``, ``word_error_rate`` and ``character_error_rate``, over the records with a
transcript (no rate without any).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.ledger import KEPT, OUTCOME, count_outcomes
from components.core.records import LEDGER, OUTPUT_SCHEMAS
from components.core.shards import read_table
from components.core.stage_output import StageOutput
from components.stages.check import draws
from components.stages.check.parts import ROWS, Parts, of_frame

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


FILE_COLUMNS = ("weights", "path")
"""Columns that name an extra file of the output."""
Finish = Callable[[pd.DataFrame], None]
"""Adds columns to a frame."""


def build_tables(output: StageOutput, suite: Mapping[str, Any], rows: int = ROWS) -> dict[str, Parts]:
    """Return the tables that ``suite`` names, with the columns it names. Files must match the manifest.

    Args:
        output: the checked output.
        suite: its expectations.
        rows: rows of a part; an output of no more is one part.

    Raises:
        HearsightError: the suite names a table that this output does not have.
    """
    made: dict[str, Parts] = {}
    source = _Source(output, rows)
    for name, expectations in suite["tables"].items():
        if name == "shards":
            made[name] = source.shards(_needed_columns(source.schema, expectations), _finish(output, expectations))
        elif name == "ledger":
            made[name] = source.ledger(["kind", "key", "verdict", "rule", *_named(expectations)], _rule(expectations))
        elif name == "counts":
            made[name] = of_frame(counts_table(output, _tables((shard.ledger for shard in output.shards), OUTCOME)))
        elif name == "balance":
            column = "record" if "record" in source.schema.names else "key"
            files = {f"shards/{shard.name}.parquet": f"ledger/{shard.name}.parquet" for shard in output.manifest.shards}
            made[name] = of_frame(balance_table(source.shards([column]), source.ledger(ENTRY_COLUMNS), column, files))
        elif name in ("draws", "voices") and any(entry.path == draws.FILE for entry in output.manifest.files):
            table = draws.draws_table if name == "draws" else draws.voices_table
            made[name] = of_frame(table(output, _tables((shard.path for shard in output.shards), draws.COLUMNS)))
        elif name.startswith("by_") and name[3:] in source.schema.names:
            columns = [c for c in dict.fromkeys([name[3:], "split", *ERROR_COUNT_COLUMNS]) if c in source.schema.names]
            made[name] = of_frame(by_table(name[3:], source.shards(columns), columns))
        else:
            raise HearsightError(
                f"names a table '{name}' that {output.name} does not have",
                where=f"expectations/{output.manifest.stage}.json",
                hint="use shards, ledger, counts, balance, by_<column>, or, of drawn speech, draws and voices",
            )
    return made


def _named(expectations: list[dict[str, Any]]) -> set[str]:
    """Return every string among the expectations' arguments; it includes the column names."""
    values = [value for item in expectations for value in item.values()]
    flat = [*values, *(item for value in values if isinstance(value, list) for item in value)]
    return {value for value in flat if isinstance(value, str)}


def _needed_columns(schema: pa.Schema, expectations: list[dict[str, Any]]) -> list[str]:
    """Return the columns of the shards that the expectations need."""
    named = _named(expectations)
    # A row condition names a column inside a longer text.
    conditions = " ".join(item.get("row_condition", "") for item in expectations)
    wanted = {"key", "record"} | {name.removesuffix("_count") for text in named for name in (text, *text.split("+"))} | named
    wanted |= {name for name in schema.names if re.search(rf"\b{re.escape(name)}\b", conditions)}
    wanted |= set(FILE_COLUMNS) if "listed_sha256" in named else set()
    return list(wanted | ({"media"} if "media_sha256" in named else set()))


class _Source:
    """The shards and the ledger of an output, read in parts."""

    def __init__(self, output: StageOutput, rows: int) -> None:
        self.output, self.rows = output, rows
        self.schema = OUTPUT_SCHEMAS[output.manifest.stage][1]

    def shards(self, columns: Sequence[str], finish: Finish | None = None) -> Parts:
        """Return the records with some columns; ``finish`` adds others to each part."""
        sizes = [entry.rows for entry in self.output.manifest.shards]
        return self._parts("shards", sizes, self.schema, columns, finish)

    def ledger(self, columns: Sequence[str], finish: Finish | None = None) -> Parts:
        """Return the ledger with some columns."""
        sizes = [entry.ledger["rows"] for entry in self.output.manifest.shards]
        return self._parts("ledger", sizes, LEDGER, columns, finish)

    def _parts(self, kind: str, sizes: list[int], schema: pa.Schema, columns: Sequence[str], finish: Finish | None) -> Parts:
        wanted = [name for name in schema.names if name in set(columns)]
        files = [f"{kind}/{entry.name}.parquet" for entry in self.output.manifest.shards]
        runs = list(_runs(sizes, self.rows))
        # pandas holds integers with a null as floats; so does each part.
        floats = [name for name in wanted if (field := schema.field(name)).nullable and pa.types.is_integer(field.type)]

        def read() -> Iterator[pd.DataFrame]:
            for start, end in runs:
                tables = {file: read_table(self.output.path / file, wanted) for file in files[start:end]}
                frame = _frame(tables, schema.empty_table().select(wanted)).astype(dict.fromkeys(floats, float))
                if finish is not None:
                    finish(frame)
                yield frame

        return Parts(sum(sizes), read, single=next(read()) if len(runs) == 1 else None)


def _tables(files: Iterable[Path], columns: Sequence[str]) -> Iterator[pa.Table]:
    return (read_table(file, list(columns)) for file in files)


def _runs(sizes: Sequence[int], rows: int) -> Iterator[tuple[int, int]]:
    """Yield runs of adjacent shards of at most ``rows`` rows, of one shard at least; one run without shards."""
    start = total = 0
    for at, size in enumerate(sizes):
        if at > start and total + size > rows:
            yield start, at
            start, total = at, 0
        total += size
    yield start, len(sizes)


def _frame(tables: Mapping[str, pa.Table], empty: pa.Table) -> pd.DataFrame:
    frames = []
    for file, table in (tables or {"": empty}).items():
        for index, field in enumerate(table.schema):
            if pa.types.is_list(field.type):
                # Great Expectations compares single values, so a list is represented by its length.
                table = table.set_column(index, f"{field.name}_count", pc.list_value_length(table.column(index)).cast(pa.int64()))
        frame = table.to_pandas()
        frame.insert(0, "file", file)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _rule(expectations: list[dict[str, Any]]) -> Finish:
    def add(frame: pd.DataFrame) -> None:
        frame["ruled"] = frame["rule"].fillna("").ne("").map({True: "yes", False: "no"})
        _join(frame, _named(expectations))

    return add


def _finish(output: StageOutput, expectations: list[dict[str, Any]]) -> Finish:
    named = _named(expectations)

    def add(frame: pd.DataFrame) -> None:
        if "listed_sha256" in named:
            listed = {entry.path: entry.sha256 for entry in output.manifest.files}
            column = next(name for name in FILE_COLUMNS if name in frame.columns)
            frame["listed_sha256"] = frame[column].map(listed).fillna("")
        if "media_sha256" in named:
            media = StageOutput(output.path)  # for each part, so that the indices of all tar files are not kept
            digests = {name: _media_digest(media, name) for name in frame["media"].drop_duplicates()}
            frame["media_sha256"] = frame["media"].map(digests)
        _join(frame, named)

    return add


def _join(frame: pd.DataFrame, named: set[str]) -> None:
    """Add the columns ``a+b`` that a suite names: Great Expectations compares column pairs row by row in Python."""
    for name in sorted(named):
        parts = name.split("+")
        if len(parts) > 1 and all(part in frame.columns for part in parts):
            joined = frame[parts[0]]
            for part in parts[1:]:
                joined = joined + "+" + frame[part]
            frame[name] = joined


def _media_digest(output: StageOutput, media: str) -> str:
    try:
        return sha256_bytes(output.read_media(media))
    except HearsightError:
        return ""
