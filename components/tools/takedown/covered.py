"""Find the rows of a table that an entry covers: a test of bytes over whole columns, then the exact comparison of what passes.

The exact comparison (:meth:`Matcher.is_listed`) takes 10 to 50 µs an address, so a million rows would take minutes. The test of
bytes takes less than 1 µs and loses no match: a host spelled in ASCII letters and without codes contains the bytes of each host
that covers it, and a path without codes contains every run of unreserved characters that its canonical form has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from components.core.shards import read_table
from components.tools.takedown.file_search import ADDRESS_COLUMNS, Matcher
from components.web.canonical import FOLDER

COLUMNS = {"url": ("page_url", "image_url"), "host": ("page_url", "image_url", "host"), "owner": ("owner",)}
"""Kind of an entry → the columns that can have it."""
_HOST = r"(?:[A-Za-z0-9-]+\.)*[A-Za-z][A-Za-z0-9-]*(?::[0-9]*)?"
"""Pattern of a host name that is canonical once its letters are lower case. The last label begins with a letter, so it is not an
IP address. Letters are listed in both cases, since RE2 also matches other letters when it ignores case."""
_SERVER = rf"[hH][tT][tT][pP][sS]?://{_HOST}"
_PLAIN_HOST = rf"^(?:{_SERVER}(?:[/?#]|$)|{_HOST}$|[fF][iI][lL][eE]:[^/])"
_AFTER_HOST = rf"(?s)^({_SERVER})[/?#].*"
_CODED = r"[%\x00-\x1f\x7f]"
"""A percent-encoded character, or one that a browser removes."""
_KEY = "^(?:[0-9a-f]{16})?$"
"""A record's key, or nothing."""
_BELOW_ROOT = rf"^{_SERVER}/+[\w~-](?:[^%/\x00-\x1f\x7f]|/[^.%\x00-\x1f\x7f])*$"
"""A path that no dot segment leads back to the root."""


def address_columns(matcher: Matcher, names: Collection[str]) -> list[str]:
    """Return which of a table's columns can have what the matcher lists: all of addresses where it lists hashes alone."""
    kinds = {kind for kind, _ in matcher.plain} or set(COLUMNS)
    return [name for name in ADDRESS_COLUMNS if name in names and any(name in COLUMNS[kind] for kind in kinds)]


def find_covered(table: pa.Table, matcher: Matcher) -> pa.ChunkedArray:
    """Return whether each row has an address column that is listed. Other columns are not read."""
    covered = pa.chunked_array([pa.repeat(False, table.num_rows)])
    for name in address_columns(matcher, table.column_names):
        is_listed = matcher.listed.owner if name == "owner" else matcher.is_listed
        pairs = [pair for pair in matcher.plain if name in COLUMNS[pair[0]]]
        for values in [pc.unique(find_candidates(table[name], *pair)) for pair in pairs] or [pc.unique(table[name])]:
            chosen = values
            if {kind for kind, _ in matcher.plain} == {"host"}:
                chosen = pc.replace_substring_regex(values, _AFTER_HOST, r"\1/")  # a host covers whatever follows it
            listed = [value for value in pc.unique(chosen).to_pylist() if value and is_listed(value)]
            rows = values.filter(pc.is_in(chosen, value_set=pa.array(listed, chosen.type)))
            covered = pc.or_(covered, pc.is_in(table[name], value_set=rows))
    return covered


def count_naming(paths: Iterable[Path], columns: list[str], matcher: Matcher) -> int:
    """Return in how many rows of ledgers a text names something listed, as a scan finds it."""
    count = 0
    for table in (read_table(path, columns) for path in paths):
        naming = pa.chunked_array([pa.repeat(False, table.num_rows)])
        for column in table.columns:
            texts = pc.unique(column)
            texts = texts.filter(pc.invert(_matches(texts, _KEY)))
            lists = pc.split_pattern_regex(texts, " on |, ")  # between the addresses of a text with several
            # The whole texts too: what is listed may have such a piece itself.
            parts = pa.concat_arrays([texts, pc.list_flatten(lists)])
            places = pa.concat_arrays([pa.array(range(len(texts)), pa.int64()), pc.list_parent_indices(lists)])
            candidates = pa.chunked_array([find_candidates(parts, *pair) for pair in matcher.plain])
            possible = texts.take(pc.unique(places.filter(pc.is_in(parts, value_set=candidates)))).to_pylist()
            listed = [text for text in possible if matcher.is_listed(text) or matcher.find_in_text(text)]
            naming = pc.or_(naming, pc.is_in(column, value_set=pa.array(listed, column.type)))
        count += pc.sum(naming).as_py() or 0
    return count


def find_candidates(values: pa.ChunkedArray, kind: str, canonical: str) -> pa.ChunkedArray:
    """Return the addresses that could be an entry's by their bytes: each that is, and few others."""
    if kind == "owner":
        return values.filter(_matches(values, rf"(?i){re.escape(canonical.partition('@')[0])}|%|[^\x00-\x7f]"))
    head, _, path = canonical.partition(":" if canonical.startswith(FOLDER) else "/")
    if kind == "url":
        # The slash before a segment stays what it is.
        runs = re.findall(r"/?[A-Za-z0-9._~-]+", re.sub("%..", " ", path if canonical.startswith(FOLDER) else f"/{path}"))
        same = pc.match_substring(values, max(runs, key=len)) if runs else pc.invert(_matches(values, _BELOW_ROOT))
        values = values.filter(pc.or_(same, _matches(values, _CODED)))
    plain = pc.and_(_matches(values, _PLAIN_HOST), pc.invert(_matches(values, "(?i)xn--")))
    return values.filter(pc.or_(pc.invert(plain), _matches(values, "(?i)" + re.escape(re.sub(r":\d+$", "", head)))))


def _matches(values: pa.ChunkedArray, pattern: str) -> pa.ChunkedArray:
    return pc.match_substring_regex(values, pattern)
