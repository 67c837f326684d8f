"""Ratings as read from a file: their columns, their normal form, and the errors that name a position.

CC §5.4.1: raters "assign a GOOD or BAD label to a given ⟨image, caption⟩ input, using just common-sense judgment".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from components.core.errors import HearsightError

GOOD, BAD = "GOOD", "BAD"
SPELLINGS = {GOOD: ("good", "1", "true", "yes"), BAD: ("bad", "0", "false", "no")}
"""Verdict → how files spell it, in lower case."""
BY_MODEL = "model"
"""The source of ratings that are no person's; their raters begin with it."""
SOURCES = ("hearsight", "label_studio", "csv", BY_MODEL)
"""The tools that a rating can come from, as the column ``source`` names them."""
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
    ]
)
"""A rating of a file: ``time`` is ISO 8601 in UTC with microseconds, or empty; ``seconds`` may be null; ``row`` is its position
from 1."""
_TIME = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d(:?\d\d)?)?)?$"
_TIMES = pa.timestamp("us", tz="UTC")


def nothing(where: str) -> HearsightError:
    """Return the error of a file without ratings."""
    return HearsightError("holds no rating", where=where, hint="export it again, or remove the file")


def normal_table(columns: dict[str, Any], where: str) -> pa.Table:
    """Return ratings in the normal form.

    Args:
        columns: ``item``, ``rater``, ``verdict``, ``time``, ``seconds``, ``source`` as strings, and ``row`` as integers; arrays
            of one length. Verdict, time and source have the spellings of files.

    Raises:
        HearsightError: a value cannot be read; names the first one of its column.
    """
    rows = columns["row"]
    text = {name: pc.utf8_trim_whitespace(columns[name]) for name in READ.names if name != "row"}
    if not len(rows):
        raise nothing(where)
    for name in ("item", "rater"):
        hint = f"give each rating {'its item (16 hex digits)' if name == 'item' else 'a rater'}"
        _require(pc.not_equal(text[name], ""), columns, name, where, hint)
    verdict = _verdicts(text["verdict"])
    _require(pc.not_equal(verdict, ""), columns, "verdict", where, "write GOOD or BAD")
    time = _times(text["time"], columns, where)
    seconds = _seconds(text["seconds"], columns, where)
    known = pc.is_in(text["source"], value_set=pa.array(SOURCES))
    _require(known, columns, "source", where, f"use one of {', '.join(SOURCES)}")
    values = {**text, "verdict": verdict, "time": time, "seconds": seconds, "row": rows}
    return pa.table([values[name] for name in READ.names], schema=READ)


def _require(valid: pa.BooleanArray, columns: dict[str, Any], name: str, where: str, hint: str) -> None:
    """Raise HearsightError for the first row with an invalid value."""
    first = pc.index(valid, False).as_py()
    if first < 0:
        return
    shown = columns[name][first].as_py()[:60]
    what = f"{name} is {shown!r}" if shown else f"has no {name}"
    raise HearsightError(f"row {columns['row'][first].as_py()}: {what}", where=where, hint=hint)


def _verdicts(text: pa.StringArray) -> pa.StringArray:
    spellings = [(spelling, verdict) for verdict, known in SPELLINGS.items() for spelling in known]
    found = pc.index_in(pc.utf8_lower(text), value_set=pa.array([spelling for spelling, _ in spellings]))
    return pc.fill_null(pa.array([verdict for _, verdict in spellings]).take(found), "")


def _times(text: pa.StringArray, columns: dict[str, Any], where: str) -> pa.StringArray:
    hint = "write it as 2026-11-26T09:30:00Z, or leave it empty"
    known = pc.not_equal(text, "")
    _require(pc.or_(pc.invert(known), pc.match_substring_regex(text, _TIME)), columns, "time", where, hint)
    day_only = pc.equal(pc.utf8_length(text), 10)
    zoned = pc.match_substring_regex(text, r":.*(Z|[+-]\d\d(:?\d\d)?)$")
    ending = pc.if_else(day_only, "T00:00Z", pc.if_else(zoned, "", "Z"))
    whole = pc.if_else(known, pc.binary_join_element_wise(text, ending, ""), pa.scalar(None, pa.string()))
    try:
        times = whole.cast(_TIMES)
    except pa.ArrowInvalid:
        # Some time has the form and does not exist, such as 30 February: find it.
        _require(pa.array([_exists(value) for value in whole.to_pylist()]), columns, "time", where, hint)
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


def _seconds(text: pa.StringArray, columns: dict[str, Any], where: str) -> pa.FloatArray:
    hint = "write seconds as a number of 0 or more, or leave it empty"
    known = pc.not_equal(text, "")
    number = pc.match_substring_regex(text, r"^\+?(\d{1,30}\.?\d*|\.\d+)([eE][+-]?\d{1,2})?$")
    _require(pc.or_(pc.invert(known), number), columns, "seconds", where, hint)
    plain = pc.replace_substring_regex(text, r"^\+", "")
    seconds = pc.if_else(known, plain, pa.scalar(None, pa.string())).cast(pa.float64()).cast(pa.float32(), safe=False)
    finite = pc.fill_null(pc.is_finite(seconds), True)
    _require(finite, columns, "seconds", where, hint)
    return seconds
