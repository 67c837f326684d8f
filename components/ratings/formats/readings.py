"""Ratings as read from a file: their columns, their normal form, and the errors that name a position.

CC §5.4.1: raters "assign a GOOD or BAD label to a given ⟨image, caption⟩ input, using just common-sense judgment".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from components.core.errors import HearsightError

GOOD, BAD = "GOOD", "BAD"
SPELLINGS = {GOOD: ("good", "1", "true", "yes"), BAD: ("bad", "0", "false", "no")}
"""Verdict → how files spell it, in lower case."""
SOURCES = ("hearsight", "label_studio", "csv")
"""The tools that a rating can come from."""
PSEUDONYM = r"^[^\s@]{1,64}$"
"""The identifier of a rater: no space and no @, so neither a full name nor an address of e-mail."""
READ = pa.schema(
    [
        pa.field("item", pa.string()),
        pa.field("rater", pa.string()),
        pa.field("verdict", pa.string()),
        pa.field("time", pa.string()),
        pa.field("seconds", pa.float32()),
        pa.field("source", pa.string()),
        pa.field("row", pa.int64()),
        pa.field("left_out", pa.string()),
    ]
)
"""A rating of a file: ``time`` is ISO 8601 in UTC with microseconds, or empty; ``seconds`` may be null; ``row`` is its position
from 1; ``left_out`` says why it is no rating (``cancelled``, ``unanswered``), and is empty for one."""
CANCELLED, UNANSWERED = "cancelled", "unanswered"
_TIME = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d(:?\d\d)?)?)?$"
_TIMES = pa.timestamp("us", tz="UTC")


def nothing(where: str) -> HearsightError:
    """Return the error of a file without ratings."""
    return HearsightError("holds no rating", where=where, hint="export it again, or remove the file")


def damaged(where: str, unit: str, row: int, what: str, hint: str) -> HearsightError:
    """Return the error of one rating; ``unit`` is what the file counts: row, task or record."""
    return HearsightError(f"{unit} {row}: {what}", where=where, hint=hint)


def decode_json(text: bytes, where: str) -> list[Any]:
    """Return the records of a JSON array, or of one object.

    Raises:
        HearsightError: the text is not JSON, or holds no record.
    """
    try:
        content = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        what = f"is not JSON at line {error.lineno}, column {error.colno} ({error.msg})"
        raise HearsightError(what, where=where, hint="export the file again") from None
    records = content if isinstance(content, list) else [content]
    if not records:
        raise nothing(where)
    return records


def normal_table(columns: dict[str, Any], where: str, unit: str) -> pa.Table:
    """Return ratings in the normal form.

    Args:
        columns: ``item``, ``rater``, ``verdict``, ``time``, ``seconds``, ``source`` as strings, ``row`` as integers, and
            ``left_out``; arrays or lists of one length. Verdict, time and source have the spellings of files.

    Raises:
        HearsightError: a value cannot be read; names the first one of its column.
    """
    arrays = {name: pa.array(values, READ.field(name).type) for name, values in columns.items() if name in ("row", "left_out")}
    text = {name: pc.utf8_trim_whitespace(pa.array(columns[name], pa.string())) for name in READ.names if name not in arrays}
    if not len(arrays["row"]):
        raise nothing(where)
    rated = pc.equal(arrays["left_out"], "")
    for name in ("item", "rater"):
        hint = f"give each rating {'its item (16 hex digits)' if name == 'item' else 'a rater'}"
        _require(pc.not_equal(text[name], ""), columns, name, arrays["row"], where, unit, hint)
    verdict = _verdicts(text["verdict"])
    answered = pc.or_(pc.not_equal(verdict, ""), pc.invert(rated))
    _require(answered, columns, "verdict", arrays["row"], where, unit, "write GOOD or BAD")
    time = _times(text["time"], columns, arrays["row"], where, unit)
    seconds = _seconds(text["seconds"], columns, arrays["row"], where, unit)
    known = pc.is_in(text["source"], value_set=pa.array(SOURCES))
    _require(known, columns, "source", arrays["row"], where, unit, f"use one of {', '.join(SOURCES)}")
    values = {**text, "verdict": verdict, "time": time, "seconds": seconds, **arrays}
    return pa.table([values[name] for name in READ.names], schema=READ)


def _require(
    valid: pa.BooleanArray, columns: dict[str, Any], name: str, rows: pa.Int64Array, where: str, unit: str, hint: str
) -> None:
    first = pc.index(valid, False).as_py()
    if first < 0:
        return
    value = columns[name][first]
    shown = str(value.as_py() if isinstance(value, pa.Scalar) else value)[:60]
    what = f"{name} is {shown!r}" if shown else f"has no {name}"
    raise damaged(where, unit, rows[first].as_py(), what, hint)


def _verdicts(text: pa.StringArray) -> pa.StringArray:
    spellings = [(spelling, verdict) for verdict, known in SPELLINGS.items() for spelling in known]
    found = pc.index_in(pc.utf8_lower(text), value_set=pa.array([spelling for spelling, _ in spellings]))
    return pc.fill_null(pa.array([verdict for _, verdict in spellings]).take(found), "")


def _times(text: pa.StringArray, columns: dict[str, Any], rows: pa.Int64Array, where: str, unit: str) -> pa.StringArray:
    hint = "write it as 2026-11-26T09:30:00Z, or leave it empty"
    known = pc.not_equal(text, "")
    _require(pc.or_(pc.invert(known), pc.match_substring_regex(text, _TIME)), columns, "time", rows, where, unit, hint)
    day_only = pc.equal(pc.utf8_length(text), 10)
    zoned = pc.match_substring_regex(text, r":.*(Z|[+-]\d\d(:?\d\d)?)$")
    ending = pc.if_else(day_only, "T00:00Z", pc.if_else(zoned, "", "Z"))
    whole = pc.if_else(known, pc.binary_join_element_wise(text, ending, ""), pa.scalar(None, pa.string()))
    try:
        times = whole.cast(_TIMES)
    except pa.ArrowInvalid:
        # Some time has the form and does not exist, such as 30 February: find it.
        _require(pa.array([_exists(value) for value in whole.to_pylist()]), columns, "time", rows, where, unit, hint)
        raise
    if not len(text) or not pc.any(known).as_py():
        return text
    numbers = times.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    iso = pa.array(np.datetime_as_string(numbers.astype("datetime64[us]")).astype(object), pa.string())
    return pc.if_else(known, pc.binary_join_element_wise(iso, "Z", ""), "")


def _exists(value: str | None) -> bool:
    try:
        pa.array([value], pa.string()).cast(_TIMES)
    except pa.ArrowInvalid:
        return False
    return True


def _seconds(text: pa.StringArray, columns: dict[str, Any], rows: pa.Int64Array, where: str, unit: str) -> pa.FloatArray:
    hint = "write seconds as a number of 0 or more, or leave it empty"
    known = pc.not_equal(text, "")
    number = pc.match_substring_regex(text, r"^\+?(\d{1,30}\.?\d*|\.\d+)([eE][+-]?\d{1,2})?$")
    _require(pc.or_(pc.invert(known), number), columns, "seconds", rows, where, unit, hint)
    plain = pc.replace_substring_regex(text, r"^\+", "")
    seconds = pc.if_else(known, plain, pa.scalar(None, pa.string())).cast(pa.float64()).cast(pa.float32(), safe=False)
    finite = pc.fill_null(pc.is_finite(seconds), True)
    _require(finite, columns, "seconds", rows, where, unit, hint)
    return seconds


def columns_of(ratings: Sequence[tuple[str, str, str, str, str, str, int, str]]) -> dict[str, list[Any]]:
    """Return rows in the order of :data:`READ` as columns of :func:`normal_table`."""
    return {name: [rating[place] for rating in ratings] for place, name in enumerate(READ.names)}
