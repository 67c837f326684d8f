"""Checks of archives: WARC, plain and compressed, HTTP responses, WAT, WACZ."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from collections.abc import Iterable

from components.core.errors import HearsightError
from components.web.archives.reading import ArchivePage
from components.web.budget import Budget
from tests.fuzz.checks.common import PAGE, as_file, candidates, storable

LIMIT = 1 << 14
"""Size limit of a record in bytes; small, so that some inputs exceed it."""
_PIECES = re.compile(rb"(?=WARC/1)")


class Trickle:
    """A stream that returns a few bytes per read."""

    def __init__(self, data: bytes, size: int) -> None:
        self._stream, self._size = io.BytesIO(data), size

    def read(self, size: int, /) -> bytes:
        return self._stream.read(min(size, self._size))


def warc(data: bytes) -> None:
    """Check that any bytes yield records and faults in order, within the limit, independent of read sizes."""
    from components.web.archives.records import read_records

    last = -1
    whole = list(read_records(io.BytesIO(data), LIMIT))
    for record in whole:
        assert record.offset >= last, "offsets go back"
        assert record.offset <= len(data)
        last = record.offset
        assert len(record.block) <= LIMIT
        assert not (record.fault and record.block)
        storable([record.url, record.fault, record.detail])
    _pages(data)
    if data[:2] != b"\x1f\x8b":
        few = [(record.offset, record.block, record.fault) for record in read_records(Trickle(data, 100), LIMIT)]
        assert few == [(record.offset, record.block, record.fault) for record in whole], "its records depend on how it arrives"


def warc_packed(data: bytes) -> None:
    """Check the same with each record as a compressed member: gzip, and zstd where supported."""
    from backports import zstd

    pieces = [piece for piece in _PIECES.split(data) if piece]
    _pages(b"".join(gzip.compress(piece, 1) for piece in pieces))
    _read(b"".join(zstd.compress(piece, 1) for piece in pieces))


def _pages(data: bytes) -> None:
    from components.web.archives.reading import read_stream

    _good(read_stream(io.BytesIO(data), "archive", budget=Budget(record_bytes=LIMIT)))


def _read(data: bytes) -> None:
    from components.web.archives.reading import read_archive

    try:
        _good(read_archive(as_file(data)))
    except HearsightError:  # no archive of a kind that is read
        pass


def _good(pages: Iterable[ArchivePage]) -> None:
    for page in pages:
        storable(page)
        assert page.offset >= 0
        assert not (page.failure and page.candidates)
        candidates(page.candidates)


def response(data: bytes) -> None:
    """Check that an HTTP response yields a page within the limit or a named failure."""
    from components.web.archives.encodings import BadRecord
    from components.web.archives.responses import parse_response

    try:
        result = parse_response(data)
        storable([result.status, result.html, result.charset, result.read_statements()])
        assert len(result.body(LIMIT)) <= LIMIT
    except BadRecord as bad:
        storable([bad.failure, bad.detail])


def wat(data: bytes) -> None:
    """Check that a WAT record yields candidates, nothing, or ``BadRecord``."""
    from components.web.archives.encodings import BadRecord
    from components.web.archives.wat import read_wat_page

    try:
        page = read_wat_page(data, PAGE)
    except BadRecord as bad:
        storable(bad.detail)
        return
    if page is not None:
        storable(page)
        candidates(page.candidates)


def wacz(data: bytes) -> None:
    """A WACZ is read as far as it can be. An input that is no ZIP lists its files: name, NUL, content, parted by ``NUL NUL``."""
    if data[:2] != b"PK":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as made:
            for name, content in {part.partition(b"\0")[0]: part.partition(b"\0")[2] for part in data.split(b"\0\0")[:8]}.items():
                packed = gzip.compress(content, 1) if name.endswith(b".gz") and content[:2] != b"\x1f\x8b" else content
                made.writestr(zipfile.ZipInfo(name.decode("latin-1")), packed)
        data = buffer.getvalue()
    _read(data)
