"""Read and write tables with a row for each caption: Parquet, CSV and TSV with a header, published layouts, releases, outputs.

Columns are found by their usual names. The other flat columns are kept as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from components.core.errors import HearsightError
from components.core.files import publish
from components.core.manifest import NAME as MANIFEST
from components.core.printing import json_line
from components.core.shards import write_table
from components.core.stage_output import StageOutput
from components.core.text_encoding import HEAD_BYTES, decode_text, find_encoding
from components.stages.crawl.sources.layouts import layout_named

ROLES = {
    "key": ("key", "id"),
    "url": ("url", "image_url", "image"),
    "sha256": ("sha256", "image_sha256"),
    "phash": ("phash",),
    "caption": ("caption", "text", "alt", "description"),
}
"""What a column is for → its usual names, in any case; the first one that a table has counts."""
OWN = ("key", "image_url", "image_sha256", "phash", "caption", "alt", "language", "split")
"""Columns read of a stage's output: what tells its records apart, without what only a run needs."""

ROWS = 65_536
"""Rows of a published layout that are in memory as objects."""
_BLOCK = 1 << 24
"""Bytes that are read at once; a row has at most as many."""


@dataclass(frozen=True)
class ImageTable:
    """A table and the columns that name its images."""

    table: pa.Table
    names: dict[str, str]
    """Role → column, of those of :data:`ROLES` that it has."""

    def strings(self, role: str) -> pa.Array:
        """Return a role's column as text without spaces around; '' where a row, or the table, has none."""
        if role not in self.names:
            return pa.repeat("", len(self.table))
        try:
            column = pc.utf8_trim_whitespace(pc.fill_null(self.table[self.names[role]].cast(pa.string()), ""))
        except pa.ArrowException as error:
            reason = str(error).splitlines()[0][:100]
            where, hint = f"column '{self.names[role]}'", "convert it to text"
            raise HearsightError(f"is no text in UTF-8 ({reason})", where=where, hint=hint) from None
        column = pc.utf8_lower(column) if role in ("sha256", "phash") else column
        return column.combine_chunks()

    def with_column(self, name: str, values: pa.Array | pa.ChunkedArray) -> ImageTable:
        """Return the table with a column of this name, in place of one that it has."""
        index = self.table.schema.get_field_index(name)
        changed = self.table.append_column(name, values) if index < 0 else self.table.set_column(index, name, values)
        return ImageTable(changed, self.names)


def read_image_table(path: Path, layout: str = "", columns: str = "") -> ImageTable:
    """Return the table at ``path``: a file, a release (its records), or the output of a stage.

    Args:
        layout: of a published file without a header, as ``crawl.source.layout`` names it; '' for a file with one.
        columns: its columns where they have other names, as ``url=IMG,caption=TEXT``.

    Raises:
        HearsightError: it cannot be read, has a column twice, or names no image.
    """
    if not (path.is_file() if layout else path.exists()):
        raise HearsightError("there is no such file", where=path, hint="name a table")
    records = sorted((path / "records").glob("*.csv"))
    if layout:
        schema = pa.schema([(name, pa.string()) for name in ("url", "caption", "rule")])
        table = pa.Table.from_batches(_batches(path, layout, schema), schema)
    elif (path / MANIFEST).is_file():
        shards = (shard.read() for shard in StageOutput(path).shards)
        table = pa.concat_tables(shard.select([name for name in OWN if name in shard.column_names]) for shard in shards)
    else:
        table = pa.concat_tables([_read_file(file) for file in records or [path]], promote_options="default")
    present = {name.lower(): name for name in reversed(table.column_names)}
    names = {role: next((present[name] for name in usual if name in present), "") for role, usual in ROLES.items()}
    for pair in filter(None, columns.split(",")):
        role, _, name = (part.strip() for part in pair.partition("="))
        if role not in ROLES or name not in table.column_names:
            hint = f"write {'|'.join(ROLES)}=COLUMN; its columns are {', '.join(table.column_names)}"
            raise HearsightError(f"'{pair}' names no column of {path.name}", where="--columns", hint=hint)
        names[role] = name
    names = {role: name for role, name in names.items() if name}
    if not names.keys() & {"url", "sha256", "phash"}:
        hint = "give --columns url=COLUMN, or the --layout of a file without a header"
        raise HearsightError(f"names no images; its columns are {', '.join(table.column_names)[:200]}", where=path, hint=hint)
    return ImageTable(table, names)


def _batches(path: Path, layout: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    rows = layout_named(layout, "--layout").rows(path, path.name)
    while batch := list(islice(rows, ROWS)):
        columns = ([getattr(row, name) for row in batch] for name in schema.names)
        yield pa.RecordBatch.from_arrays([pa.array(column, pa.string()) for column in columns], schema=schema)


def _unique(path: Path, names: list[str]) -> list[str]:
    if doubled := [name for name in names if names.count(name) > 1]:
        raise HearsightError(f"has the column '{doubled[0]}' twice", where=path, hint="give one of them another name")
    return names


def _read_file(path: Path) -> pa.Table:
    kind, hint = "table with a header", "give its --layout"
    try:
        if path.suffix.lower() == ".parquet":
            with pq.ParquetFile(path) as file:
                return file.read(_unique(path, [field.name for field in file.schema_arrow if not pa.types.is_nested(field.type)]))
        with pa.input_stream(str(path)) as stream:
            head = stream.read(HEAD_BYTES)
        encoding, header = find_encoding(head).removesuffix("-sig"), next(iter(decode_text(head, "replace").splitlines()), "")
        tabs = ".tsv" in path.name.lower()
        mark = "\t" if tabs else max(",;\t|", key=header.count)
        kind, hint = f"{encoding} table with {mark!r} in its header", "correct that row, save it in UTF-8, or give its --layout"
        read = csv.ReadOptions(encoding=encoding, block_size=_BLOCK, use_threads=False)  # so that errors name the row
        parse = csv.ParseOptions(delimiter=mark, quote_char=not tabs and '"', newlines_in_values=not tabs)
        names = _unique(path, csv.open_csv(path, read, parse).schema.names)
        text = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
        return csv.read_csv(path, read, parse, text)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        reason = str(error).splitlines()[0][:200]
        raise HearsightError(f"is no {kind} ({reason})", where=path, hint=hint) from None


def writer_of(path: Path) -> Callable[[pa.Table], None]:
    """Return what writes a table to ``path``, .parquet or .csv; there lists are written as JSON.

    Raises:
        HearsightError: it has another ending.
    """
    if path.suffix.lower() not in (".parquet", ".csv"):
        raise HearsightError(f"'{path.name}' is no .parquet or .csv", where=path.parent, hint="name such a file to write")
    return partial(write_table if path.suffix.lower() == ".parquet" else _write_csv, path)


def _write_csv(path: Path, table: pa.Table) -> None:
    for index, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            texts = [json_line(value) for value in table[index].to_pylist()]
            table = table.set_column(index, field.name, pa.array(texts, pa.string()))
    publish(path, lambda temporary: csv.write_csv(table, temporary))
