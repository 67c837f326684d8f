"""Base of layouts with one row per line: bounded line reading, and detection of files of another layout by their first lines."""

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
"""Maximum bytes of a line; a longer line is dropped."""
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
        rows = self._read_lines(path, label)
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

    def _read_lines(self, path: Path, label: str) -> Iterator[Row]:
        for number, line in read_numbered_lines(path, label):
            if len(line) > MAX_LINE:
                yield Row(number, rule="row_too_long", value=f"over {MAX_LINE} bytes", threshold=f"{MAX_LINE} bytes")
                continue
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                yield Row(
                    number, rule="bad_encoding", value=f"byte 0x{line[error.start]:02x} at {error.start}", threshold="UTF-8"
                )
                continue
            if not (number == 1 and self.is_header(text)):
                yield self.row(number, text)


def wrong_field_count(number: int, fields: int, expected: str) -> Row:
    """Return the row of a line with too few or too many fields."""
    return Row(number, rule="missing_field", value=f"{fields} field{'s' if fields != 1 else ''}", threshold=expected)


def read_numbered_lines(path: Path, label: str) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their numbers from 1; a line over MAX_LINE is truncated shortly after that length.

    Raises:
        HearsightError: the file is not a complete gzip file.
    """
    with path.open("rb") as plain:
        gzipped = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        handle = cast(IO[bytes], gzip.GzipFile(fileobj=plain)) if gzipped else plain
        number = 0
        try:
            while line := handle.readline(MAX_LINE + 2):
                number += 1
                yield number, line
                while line and not line.endswith(b"\n"):
                    line = handle.readline(MAX_LINE)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise HearsightError(f"is not a complete gzip file ({error})", where=label, hint="fetch it again") from None
