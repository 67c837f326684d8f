"""Find the rows of a table that an entry covers: a test of bytes over whole columns, then the exact comparison of what passes.

The exact comparison (:meth:`Matcher.is_listed`) takes 10 to 50 µs an address, so a million rows would take minutes. The test of
bytes takes .4 µs and loses no match: a host that is spelled plainly, in ASCII letters and without codes, contains the bytes of
each host that covers it, and a plain path is its own canonical form. Everything else is compared exactly.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from components.tools.takedown.file_search import ADDRESS_COLUMNS, Matcher
from components.web.canonical import FOLDER

_HOST = r"(?:[hH][tT][tT][pP][sS]?://)?(?:[A-Za-z0-9-]+\.)*[A-Za-z][A-Za-z0-9-]*(?::[0-9]*)?"
"""A server that no rule of hosts but upper and lower case changes: the last label is no number, as that of an IP address is.
Letters are named, since RE2 takes further ones for equal to these when it ignores case."""
_FILE = "[fF][iI][lL][eE]:"
_PATH = r"(?:[\w~-][\w.~-]*/)*(?:[\w~-][\w.~-]*)?"
"""A path without dot segments, doubled slashes, and characters that could be percent-encoded."""
_PLAIN_HOST = rf"^(?:{_HOST}(?:[/?#]|$)|{_FILE}[^/])"
_PLAIN = rf"^(?:{_HOST}/{_PATH}(?:\?[\w.~=&-]*)?(?:#|$)|{_FILE}{_PATH}$)"
_AFTER_HOST = rf"(?s)^({_HOST})[/?#].*"


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
    needles = [_needles(kind, value) for kind, value in matcher.plain if kind != "owner"]
    hosts, paths = ("|".join(sorted({re.escape(each[part]) for each in needles})) for part in (0, 1))
    near = pc.or_(_matches(values, f"(?i)xn--|{hosts}"), pc.invert(_matches(values, _PLAIN_HOST)))
    return pc.and_(near, pc.or_(_matches(values, paths), pc.invert(_matches(values, _PLAIN))))


def _matches(values: pa.ChunkedArray, pattern: str) -> pa.ChunkedArray:
    return pc.fill_null(pc.match_substring_regex(values, pattern), False)


def _needles(kind: str, canonical: str) -> tuple[str, str]:
    """Return what a plainly spelled address must contain: the host in any case, and the path as it is."""
    if kind == "host":
        return canonical, ""
    if canonical.startswith(FOLDER):
        return FOLDER, canonical.removeprefix(FOLDER)
    server, _, path = canonical.partition("/")
    return re.sub(r":\d+$", "", server), f"/{path}"
