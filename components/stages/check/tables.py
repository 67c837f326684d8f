"""Tables that a suite can name, built from an output's shards, ledger and manifest.

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
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.records import LEDGER, OUTPUT_SCHEMAS
from components.core.shards import read_table
from components.core.stage_output import StageOutput
from components.stages.check import draws

ERROR_COUNT_COLUMNS = ("words", "word_errors", "characters", "character_errors")
"""Columns whose sums give error rates."""
FILE_COLUMNS = ("weights", "path")
"""Columns that name an extra file of the output."""


def build_tables(output: StageOutput, suite: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Return the tables that ``suite`` names, with the columns it names. Files must match the manifest.

    Raises:
        HearsightError: the suite names a table that this output does not have.
    """
    schema = OUTPUT_SCHEMAS[output.manifest.stage][1]
    wanted = _needed_columns(output, suite, schema)
    shards = {f"shards/{ref.name}.parquet": read_table(ref.path, wanted) for ref in output.shards}
    ledgers: dict[str, pa.Table] = {}
    if {"ledger", "counts", "balance"} & set(suite["tables"]):
        columns = ["kind", "key", "verdict", "rule"]
        if "ledger" in suite["tables"]:
            columns = [name for name in LEDGER.names if name in {*columns, *_named(suite["tables"]["ledger"])}]
        ledgers = {f"ledger/{ref.name}.parquet": read_table(ref.ledger, columns) for ref in output.shards}
    made: dict[str, pd.DataFrame] = {}
    for name in suite["tables"]:
        if name == "shards":
            made[name] = _records(output, shards, suite["tables"][name])
        elif name == "ledger":
            made[name] = _frame(ledgers, LEDGER)
            made[name]["ruled"] = made[name]["rule"].fillna("").ne("").map({True: "yes", False: "no"})
            _join(made[name], _named(suite["tables"][name]))
        elif name == "counts":
            made[name] = _counts(output, ledgers)
        elif name == "balance":
            made[name] = _balance(shards, ledgers)
        elif name in ("draws", "voices") and any(entry.path == draws.FILE for entry in output.manifest.files):
            made[name] = (draws.draws_table if name == "draws" else draws.voices_table)(output, shards)
        elif name.startswith("by_") and name[3:] in schema.names:
            made[name] = _by(name[3:], shards, schema)
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


def _needed_columns(output: StageOutput, suite: Mapping[str, Any], schema: pa.Schema) -> list[str]:
    """Return the columns of the shards that the suite's tables need, in the schema's order."""
    wanted = {"key", "record"}
    for table, expectations in suite["tables"].items():
        if table == "shards":
            named = _named(expectations)
            # A row condition names a column inside a longer text.
            conditions = " ".join(item.get("row_condition", "") for item in expectations)
            wanted |= {name.removesuffix("_count") for text in named for name in (text, *text.split("+"))} | named
            wanted |= {name for name in schema.names if re.search(rf"\b{re.escape(name)}\b", conditions)}
            wanted |= set(FILE_COLUMNS) if "listed_sha256" in named else set()
            wanted |= {"media"} if "media_sha256" in named else set()
        elif table in ("draws", "voices"):
            wanted |= set(draws.COLUMNS)
        elif table.startswith("by_"):
            wanted |= {table[3:], "split", *ERROR_COUNT_COLUMNS}
    return [name for name in schema.names if name in wanted]


def _frame(parts: Mapping[str, pa.Table], empty: pa.Schema | None = None) -> pd.DataFrame:
    frames = []
    for file, table in parts.items():
        for index, field in enumerate(table.schema):
            if pa.types.is_list(field.type):
                # Great Expectations compares single values, so a list is represented by its length.
                table = table.set_column(index, f"{field.name}_count", pc.list_value_length(table.column(index)).cast(pa.int64()))
        frame = table.to_pandas()
        frame.insert(0, "file", file)
        frames.append(frame)
    if not frames:
        return pd.DataFrame(columns=["file", *(empty.names if empty else [])])
    return pd.concat(frames, ignore_index=True)


def _records(output: StageOutput, shards: Mapping[str, pa.Table], expectations: list[dict[str, Any]]) -> pd.DataFrame:
    frame, named = _frame(shards), _named(expectations)
    if "listed_sha256" in named:
        listed = {entry.path: entry.sha256 for entry in output.manifest.files}
        column = next(name for name in FILE_COLUMNS if name in frame.columns)
        frame["listed_sha256"] = frame[column].map(listed).fillna("")
    if "media_sha256" in named:
        media = frame["media"].drop_duplicates()
        digests = {name: _media_digest(output, name) for name in media}
        frame["media_sha256"] = frame["media"].map(digests)
    _join(frame, named)
    return frame


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


def _counts(output: StageOutput, ledgers: Mapping[str, pa.Table]) -> pd.DataFrame:
    listed: Counter[tuple[str, str]] = Counter()
    for kind, bucket in output.manifest.counts.items():
        listed[kind, "kept"] += bucket["kept"]
        for rule, number in bucket["dropped"].items():
            listed[kind, rule] += number
    logged: Counter[tuple[str, str]] = Counter()
    for table in ledgers.values():
        counted = table.group_by(["kind", "verdict", "rule"], use_threads=False).aggregate([([], "count_all")]).to_pylist()
        for row in counted:
            logged[row["kind"], "kept" if row["verdict"] == "kept" else row["rule"]] += row["count_all"]
    rows = [("manifest.json", kind, rule, listed[kind, rule], logged[kind, rule]) for kind, rule in sorted(listed | logged)]
    return pd.DataFrame(rows, columns=["file", "kind", "rule", "manifest", "ledger"])


def _balance(shards: Mapping[str, pa.Table], ledgers: Mapping[str, pa.Table]) -> pd.DataFrame:
    # The ledger counts records, which may have several utterances.
    name = "record" if any("record" in table.column_names for table in shards.values()) else "key"
    records = _frame({file: table.select([name]) for file, table in shards.items()})
    entries = _frame({file: table.select(["kind", "key", "verdict"]) for file, table in ledgers.items()})
    if not shards:
        return pd.DataFrame(columns=["file", "rows", "unaccounted", "lost", "twice"])
    in_shard = entries["key"].isin(records[name])
    # The ledger also has kinds without rows here (pages at the crawl); only the rows' kinds can be lost.
    kept = (entries["verdict"] == "kept") & entries["kind"].isin(entries.loc[in_shard, "kind"].unique())
    records["unaccounted"] = ~records[name].isin(entries.loc[kept, "key"])
    entries["lost"] = kept & ~in_shard
    entries["twice"] = entries.duplicated(["kind", "key"])
    rows = records.groupby("file")["unaccounted"].agg(["size", "sum"]).reindex(list(shards), fill_value=0)
    errors = entries.groupby("file")[["lost", "twice"]].sum().reindex(list(ledgers), fill_value=0)
    rows_by_file = zip(shards, rows["size"], rows["sum"], errors["lost"], errors["twice"], strict=True)
    return pd.DataFrame(rows_by_file, columns=["file", "rows", "unaccounted", "lost", "twice"])


def _by(column: str, shards: Mapping[str, pa.Table], schema: pa.Schema) -> pd.DataFrame:
    names = [name for name in dict.fromkeys([column, "split", *ERROR_COUNT_COLUMNS]) if name in schema.names]
    parts = {file: table.select(names) for file, table in shards.items()}
    frame = _frame(parts or {"shards": schema.empty_table().select(names)})
    grouped = frame.groupby(column, sort=True)
    made = grouped.agg(file=("file", "first"), rows=("file", "size"), splits=("split", "nunique"))
    if set(ERROR_COUNT_COLUMNS) <= set(frame.columns):
        sums = frame[frame["word_errors"].notna()].groupby(column)[list(ERROR_COUNT_COLUMNS)].sum()
        made["words"] = sums["words"].reindex(made.index).fillna(0)
        for unit in ("word", "character"):
            made[f"{unit}_error_rate"] = (sums[f"{unit}_errors"] / sums[f"{unit}s"]).reindex(made.index)
    return made.reset_index()
