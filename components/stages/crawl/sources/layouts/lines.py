"""Tables of one row a line: lines read within bounds, and a file of another layout told by its first lines."""

from __future__ import annotations

import gzip
import zlib
from abc import abstractmethod
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, cast

from components.core.errors import HearsightError
from components.stages.crawl.sources.layouts.row import Layout, Row

MAX_LINE = 1_000_000
"""Bytes of a line; a longer one is no row."""
PROBED_LINES = 20
"""Lines a file is known by: when none of them fits, it is of another layout."""


class LineLayout(Layout):
    """A layout of one row a line."""

    fields: str
    """What a line holds, for messages."""

    @abstractmethod
    def row(self, number: int, text: str) -> Row:
        """What a line says; a line that does not fit becomes a row with a rule."""

    def is_header(self, text: str) -> bool:
        """Whether the first line names the columns."""
        return False

    def rows(self, path: Path, label: str) -> Iterator[Row]:
        """See :class:`Layout`."""
        rows = self._all(path, label)
        first = list(islice(rows, PROBED_LINES))
        if first and all(row.rule for row in first):
            why = first[0].value or first[0].rule
            if all(row.rule == "bad_encoding" for row in first):
                raise HearsightError(
                    f"is not UTF-8 text: {why}", where=f"{label}: line {first[0].number}", hint="save it as UTF-8"
                )
            raise HearsightError(
                f"is not of the layout '{self.name}': {why}, and none of its first {len(first)} lines fits",
                where=f"{label}: line {first[0].number}",
                hint=f"a line is {self.fields}; set crawl.layout to the file's own",
            )
        yield from chain(first, rows)

    def _all(self, path: Path, label: str) -> Iterator[Row]:
        try:
            for number, line in read_numbered_lines(path):
                yield from self._read(number, line)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise HearsightError(f"is not a whole gzip file ({error})", where=label, hint="fetch it again") from None

    def _read(self, number: int, line: bytes) -> Iterator[Row]:
        if len(line) > MAX_LINE:
            yield Row(number, rule="row_too_long", value=f"over {MAX_LINE} bytes", threshold=f"{MAX_LINE} bytes")
            return
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            yield Row(number, rule="bad_encoding", value=f"byte 0x{line[error.start]:02x} at {error.start}", threshold="UTF-8")
            return
        if not (number == 1 and self.is_header(text)):
            yield self.row(number, text)


def wrong_field_count(number: int, fields: int, wanted: str) -> Row:
    """The row of a line that has too few or too many fields."""
    return Row(number, rule="missing_field", value=f"{fields} field{'s' if fields != 1 else ''}", threshold=wanted)


def read_numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers from 1; of a longer one than MAX_LINE a little more than that, the rest skipped."""
    with path.open("rb") as plain:
        packed = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        handle = cast(IO[bytes], gzip.GzipFile(fileobj=plain)) if packed else plain
        number = 0
        while line := handle.readline(MAX_LINE + 2):
            number += 1
            yield number, line
            while line and not line.endswith(b"\n"):
                line = handle.readline(MAX_LINE)
