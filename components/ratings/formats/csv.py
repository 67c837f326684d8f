"""Ratings as CSV: read any table with the columns item, rater and verdict; write all columns of a rating.

Time, seconds and source may be missing. Query, candidate and rank are written for people who read the file; a reader takes them
from the items.
"""

from __future__ import annotations

import io
import re

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from components.core.errors import HearsightError
from components.core.text_encoding import decode_text
from components.ratings.formats.readings import BY_MODEL, normal_table, nothing

COLUMNS = ("item", "query", "candidate", "rank", "rater", "verdict", "time", "seconds", "source")
"""The columns of a written file."""
REQUIRED = ("item", "rater", "verdict")


def read(data: bytes, where: str) -> pa.Table:
    """Return the ratings of a file; the row after the header is row 1.

    Raises:
        HearsightError: the file is no text or not CSV, or a column or value is missing or cannot be read.
    """
    try:
        data = decode_text(data).lstrip().encode()
    except UnicodeDecodeError:
        raise HearsightError("is not UTF-8", where=where, hint="save the table as CSV in UTF-8") from None
    if not data:
        raise nothing(where)
    parse = csv.ParseOptions(newlines_in_values=True)
    try:
        header = data.split(b"\n", 1)[0].decode()
        names = [name.strip(' "\r').lower() for name in header.split(",")]
        _require_columns(names, where)
        convert = csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, quoted_strings_can_be_null=False
        )
        options = csv.ReadOptions(column_names=names, skip_rows=1, use_threads=False)
        table = csv.read_csv(io.BytesIO(data), options, parse, convert)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise _damaged(str(error), where) from None
    rows = table.num_rows
    empty = pa.array([""] * rows, pa.string())
    columns = {name: table[name].combine_chunks() if name in names else empty for name in (*REQUIRED, "time", "seconds")}
    source = table["source"].combine_chunks() if "source" in names else empty
    named = pc.if_else(pc.equal(pc.utf8_trim_whitespace(source), ""), "csv", source)
    # Of a model, also where another program has dropped the column.
    columns["source"] = pc.if_else(pc.starts_with(columns["rater"], f"{BY_MODEL}:"), BY_MODEL, named)
    return normal_table(columns | {"row": pa.array(range(1, rows + 1))}, where)


def write(ratings: pa.Table) -> bytes:
    """Return RATING records as CSV, in their order; raters are written as they are, so they must be pseudonyms."""
    for style in ("none", "needed"):  # Arrow quotes every text where one needs it
        target = io.BytesIO()
        try:
            csv.write_csv(ratings.select(COLUMNS), target, csv.WriteOptions(quoting_style=style, quoting_header="none"))
        except pa.ArrowInvalid:
            continue
        return target.getvalue()
    raise AssertionError("Arrow writes quoted text")


def _require_columns(names: list[str], where: str) -> None:
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        hint = f"begin the file with a header such as {','.join(COLUMNS)}, with commas"
        raise HearsightError(f"has no column {missing[0]}: its first line is no header of ratings", where=where, hint=hint)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise HearsightError(f"has the column '{twice}' twice", where=where, hint="name each column once")


def _damaged(message: str, where: str) -> HearsightError:
    if "Empty CSV" in message or "no rows" in message.lower():
        return nothing(where)
    if match := re.search(r"Row #(\d+): (Expected \d+ columns, got \d+)", message):
        what = f"row {int(match[1]) - 1}: {match[2].replace('Expected', 'should have').replace('got', 'and has')}"
        return HearsightError(what, where=where, hint="write each rating on one line, and quote values with commas")
    return HearsightError(f"is not CSV ({message.splitlines()[0][:80]})", where=where, hint="save the table as CSV again")
