"""Find the rows of a table that an entry covers: a test of bytes over whole columns, then the exact comparison of what passes.

The exact comparison (:meth:`Matcher.is_listed`) takes 10 to 50 µs an address, so a million rows would take minutes. The test of
bytes takes less than 1 µs and loses no match: a host spelled in ASCII letters and without codes contains the bytes of each host
that covers it, and a path without codes contains every run of unreserved characters that its canonical form has.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from components.tools.takedown.file_search import ADDRESS_COLUMNS, Matcher
from components.web.canonical import FOLDER

_HOST = r"(?:[A-Za-z0-9-]+\.)*[A-Za-z][A-Za-z0-9-]*(?::[0-9]*)?"
"""A server that no rule of hosts but upper and lower case changes: the last label is no number, as that of an IP address is.
Letters are named, since RE2 takes further ones for equal to these when it ignores case."""
_SERVER = rf"[hH][tT][tT][pP][sS]?://{_HOST}"
_PLAIN_HOST = rf"^(?:{_SERVER}(?:[/?#]|$)|{_HOST}$|[fF][iI][lL][eE]:[^/])"
_AFTER_HOST = rf"(?s)^({_SERVER})[/?#].*"
_CODED = r"[%\x00-\x1f\x7f]"
"""A percent-encoded character, or one that a browser removes."""
_BELOW_ROOT = rf"^{_SERVER}/+[\w~-](?:[^%/\x00-\x1f\x7f]|/[^.%\x00-\x1f\x7f])*$"
"""A path that no dot segment leads back to the root."""


def find_covered(table: pa.Table, matcher: Matcher) -> pa.ChunkedArray:
    """Return whether each row has an address column that is listed. Other columns are not read."""
    covered = pa.chunked_array([pa.repeat(False, table.num_rows)])
    kinds = {kind for kind, _ in matcher.plain}
    for name in (each for each in ADDRESS_COLUMNS if each in table.column_names):
        values, is_listed = table[name], matcher.listed.owner if name == "owner" else matcher.is_listed
        if kinds == {"owner"} and name != "owner":
            continue
        if kinds == {"host"} and name != "owner":
            values = pc.replace_substring_regex(values, _AFTER_HOST, r"\1/")  # a host covers whatever follows it
        chosen = pc.unique(values if name == "owner" or not kinds else values.filter(may_be_listed(values, matcher)))
        listed = [value for value in chosen.to_pylist() if value and is_listed(value)]
        covered = pc.or_(covered, pc.is_in(values, value_set=pa.array(listed, values.type)))
    return covered


def may_be_listed(values: pa.ChunkedArray, matcher: Matcher) -> pa.ChunkedArray:
    """Return by the bytes of addresses whether each could be one that the matcher's plain values list: true for each that is."""
    result = pa.chunked_array([pa.repeat(False, len(values))])
    foreign = pc.and_(_matches(values, _PLAIN_HOST), pc.invert(_matches(values, "(?i)xn--")))
    for kind, canonical in matcher.plain:
        if kind == "owner":
            continue
        head, _, path = canonical.partition(":" if canonical.startswith(FOLDER) else "/")
        near = pc.or_(pc.invert(foreign), _matches(values, "(?i)" + re.escape(re.sub(r":\d+$", "", head))))
        if kind == "url":
            runs = re.findall(r"[A-Za-z0-9._~-]+", re.sub("%..", " ", path))
            coded = _matches(values, _CODED)
            same = _matches(values, re.escape(max(runs, key=len))) if runs else pc.invert(_matches(values, _BELOW_ROOT))
            near = pc.and_(near, pc.or_(coded, same))
        result = pc.or_(result, near)
    return result


def _matches(values: pa.ChunkedArray, pattern: str) -> pa.ChunkedArray:
    return pc.fill_null(pc.match_substring_regex(values, pattern), False)
