"""Base of layouts with one row per line: bounded line reading, and detection of files of another layout by their first lines."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from abc import abstractmethod
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import cast

from components.core.errors import HearsightError
from components.core.text_encoding import HEAD_BYTES, find_encoding
from components.stages.crawl.sources.layouts.quotes import UNCLEAR_QUOTES, Line, Record, is_of_spreadsheet, read_records
from components.stages.crawl.sources.layouts.row import Layout, Row

MAX_LINE = 1_000_000
"""Maximum characters of a line; a longer line is dropped."""
_UNDECODED = {"surrogateescape": re.compile("[\udc80-\udcff]"), "replace": re.compile("\ufffd")}
"""Error handler of a decoder → what it leaves for bytes that it cannot decode."""
PROBED_LINES = 20
"""Leading lines that decide whether the file has this layout: at least one of them must fit."""


class LineLayout(Layout):
    """A layout with one row per line."""

    fields: str
    """Fields of a line, for messages."""

    @abstractmethod
    def row(self, number: int, text: str) -> Row:
        """Return the row of a line; a line that does not fit becomes a row with a rule."""

    def is_header(self, text: str) -> bool:
        """Return whether the first line names the columns."""
        return False

    def rows(self, path: Path, label: str) -> Iterator[Row]:
        rows = self._read_rows(path, label)
        probed = list(islice(rows, PROBED_LINES))
        if probed and all(row.rule for row in probed):
            reason = probed[0].value or probed[0].rule
            if all(row.rule == "bad_encoding" for row in probed):
                raise HearsightError(
                    f"is not UTF-8 text: {reason}", where=f"{label}: line {probed[0].number}", hint="save it as UTF-8"
                )
            raise HearsightError(
                f"is not of the layout '{self.name}': {reason}, and none of its first {len(probed)} lines fits",
                where=f"{label}: line {probed[0].number}",
                hint=f"a line is {self.fields}; set crawl.source.layout to the file's own",
            )
        yield from chain(probed, rows)

    def _read_rows(self, path: Path, label: str) -> Iterator[Row]:
        quotes = self.quotes if self.columns else "none"
        if quotes == "none":
            records: Iterator[Record] = (Record(line, "none") for line in read_lines(path, label))
        else:
            records = read_records(read_lines(path, label), self.columns)
        undone = quotes == "spreadsheet" or (quotes == "auto" and is_of_spreadsheet(read_lines(path, label), self.columns))
        unclear = ("torn", "cut") if undone else ("needed", "cut")
        for record in records:
            number, text, fault = record.line
            if fault:
                yield Row(number, rule=fault[0], value=fault[1], threshold=fault[2])
            elif record.kind in unclear:
                value = f"{text[:40]!r} begins a cell with a quotation mark"
                yield Row(number, rule=UNCLEAR_QUOTES, value=value, threshold="the file's own way (crawl.source.quotes)")
            else:
                text = record.without_quotes() if undone else text
                if not (number == 1 and self.is_header(text)):
                    yield self.row(number, text)


def wrong_field_count(number: int, fields: int, expected: str) -> Row:
    """Return the row of a line with too few or too many fields."""
    return Row(number, rule="missing_field", value=f"{fields} field{'s' if fields != 1 else ''}", threshold=expected)


def read_lines(path: Path, label: str) -> Iterator[Line]:
    """Yield the lines of a text in UTF-8 or UTF-16 with their numbers from 1; one over MAX_LINE characters has only a fault.

    A file without a line feed has lines that end in a carriage return.

    Raises:
        HearsightError: the file is not a complete gzip file.
    """
    with path.open("rb") as plain:
        gzipped = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        handle = cast(io.BufferedReader, gzip.GzipFile(fileobj=plain)) if gzipped else plain
        try:
            head = handle.peek(HEAD_BYTES)
            encoding, end = find_encoding(head), "\r" if b"\r" in head and b"\n" not in head else "\n"
            errors = "surrogateescape" if encoding == "utf-8-sig" else "replace"
            text = io.TextIOWrapper(handle, encoding, errors, newline=end)
            number = 0
            while line := text.readline(MAX_LINE + 2):
                number += 1
                yield _line(number, line, _UNDECODED[errors])
                while line and not line.endswith(end):
                    line = text.readline(MAX_LINE)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise HearsightError(f"is not a complete gzip file ({error})", where=label, hint="fetch it again") from None


def _line(number: int, line: str, undecoded: re.Pattern[str]) -> Line:
    if len(line) > MAX_LINE:
        return Line(number, "", ("row_too_long", f"over {MAX_LINE} characters", f"{MAX_LINE} characters"))
    if bad := undecoded.search(line):
        at = len(line[: bad.start()].encode("utf-8", "surrogateescape"))
        value = "part of a character" if bad[0] == "\ufffd" else f"byte 0x{ord(bad[0]) - 0xDC00:02x} at {at}"
        return Line(number, "", ("bad_encoding", value, "UTF-8"))
    return Line(number, line.rstrip("\r\n"))
