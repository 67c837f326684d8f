"""Read WARC records from an archive's members, in order; a broken record becomes a named fault.

Memory is bounded by the record size limit, time by the bytes read and decompressed. A fault costs one record: reading continues
at the next position that looks like a record. Format: ISO 28500:2017 (WARC 1.1). The content of blocks is not interpreted here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from components.web.archives.encodings import MAGIC as GZIP
from components.web.archives.encodings import GzipMembers
from components.web.archives.members import CHUNK, Expansion, Members
from components.web.archives.opening import Stream, read_fully
from components.web.archives.responses import Fields, parse_fields
from components.web.archives.zstd_members import ZstdMembers, is_zstd

HEAD_LIMIT = 1 << 16
"""Maximum bytes of a record's head."""
FAULTS = 1000
"""Consecutive faults reported individually; then a compressed member is abandoned, and the rest of a plain archive is counted."""
_ARC = re.compile(rb"[A-Za-z-]+:\S+ [\d.:a-fA-F]+ \d{12,14} \S+ (?:\S+ ){0,6}\d+\r?\n")
"""First line of an ARC file, the format before WARC: address, IP address, date, type, length."""
_START = re.compile(rb"WARC/1\.\d\r?\n")
_STOP = re.compile(rb"\n\r?\n|WARC/1\.\d\r?\n")
"""End of a head: an empty line, or the start of another record (then this record is truncated)."""
_BLANK = re.compile(rb"[\r\n]*+")
_END = b"\r\n\r\n"
SKIP_LIMIT = 1 << 30
"""Maximum decompressed bytes skipped for one record; above it the member is abandoned, since it may be a bomb."""


@dataclass(slots=True)
class Record:
    """One WARC record, or a fault: then ``fault`` is set and the block is empty."""

    headers: Fields
    """Header names are lower-case."""
    block: bytes
    offset: int
    """Start of the record in bytes of the stored archive; in a gzip member of several records, the member's start."""
    fault: str = ""
    """'' or truncated | bad_gzip | not_gzip | bad_zstd | not_zstd | bad_record | wrong_length | too_large | arc_file."""
    detail: str = ""

    @property
    def type(self) -> bytes:
        return self.headers.get(b"warc-type", b"").lower()

    @property
    def url(self) -> str:
        return self.headers.get(b"warc-target-uri", b"").strip(b"<>").decode("utf-8", "replace")


@dataclass
class _Cursor:
    """The buffered part of the current member and a position in it."""

    members: Members
    data: bytes = b""
    position: int = 0
    dropped: int = 0
    """Bytes of the member before ``data``."""
    ended: bool = False
    """Whether the member is exhausted."""
    _last_end: int | None = None

    def read_more(self, size: int = 1) -> bool:
        """Read at least ``size`` more bytes if the member has them; return whether any were read."""
        pieces: list[bytes | memoryview] = [memoryview(self.data)[self.position :]]
        while size > 0 and not self.ended:
            piece = self.members.read_piece()
            self.ended = not piece
            pieces.append(piece)
            size -= len(piece)
        if len(pieces) == 1 or not (pieces[1]):
            return False
        self.dropped += self.position
        self.data, self.position = b"".join(pieces), 0
        return True

    def ensure(self, size: int) -> bool:
        """Return whether ``size`` bytes are available from the position, reading more if necessary."""
        available = len(self.data) - self.position
        if available < size and not self.ended:
            # Grows by half: the buffer is copied, and a broken record may ask for a few more bytes many times.
            self.read_more(max(size - available, available // 2))
            available = len(self.data) - self.position
        return available >= size

    def has_record_after(self, at: int) -> bool:
        """Return whether, in a member that has ended, a record end followed by a record start lies at ``at`` or later."""
        if self._last_end is None:
            self._last_end = self.dropped + self.data.rfind(b"\r\n\r\nWARC/1.")
        return self._last_end >= self.dropped + at

    @property
    def offset(self) -> int:
        return self.members.offset if self.members.is_compressed else self.members.offset + self.dropped + self.position


def read_records(stream: Stream, limit: int, expansion: Expansion | None = None) -> Iterator[Record]:
    """Yield the records and faults of a gzip, zstd or plain archive, in order.

    ``limit``: maximum decompressed bytes of a record in memory; ``expansion``: the archive's, when the stream is a part of it.
    """
    members = open_members(stream, expansion or Expansion())
    faults = _Faults()
    while members.next():
        data = members.read_piece()
        if not members.offset and is_arc(data):
            yield Record(
                {}, b"", 0, "arc_file", "ARC files are not read: convert it with `warcio recompress OLD.arc NEW.warc.gz`"
            )
            return
        if members.is_complete:  # fast path: the member holds one record
            headers, start = parse_fields(data, 0, HEAD_LIMIT)
            if start > 0 and _length(headers) == len(data) - start - 4 and data.startswith(b"WARC/") and data.endswith(_END):
                if faults.row:
                    yield from faults.end()
                yield Record(headers, data[start:-4], members.offset)
                continue
        cursor = _Cursor(members, data)
        had_fault = False
        for record in _in_member(cursor, limit):
            if not record.fault:
                yield from faults.end()
            elif not faults.count(record):
                continue
            had_fault |= bool(record.fault)
            yield record
        if members.fault and (members.is_bomb or not had_fault):
            fault = Record({}, b"", members.offset, members.fault, members.detail)
            if faults.count(fault):
                yield fault
    yield from faults.end()


def is_arc(head: bytes) -> bool:
    """Return whether ``head`` begins an ARC file."""
    return _ARC.match(head) is not None


def open_members(stream: Stream, expansion: Expansion) -> Members:
    """Return a reader of the archive's members."""
    head = read_fully(stream, CHUNK)
    if head.startswith(GZIP[:2]):
        return GzipMembers(stream, head, expansion)
    return (ZstdMembers if is_zstd(head) else Members)(stream, head, expansion)


class _Faults:
    """Counts consecutive faults: after ``FAULTS`` only their number is reported."""

    def __init__(self) -> None:
        self.row = 0
        self._last = Record({}, b"", 0)

    def count(self, record: Record) -> bool:
        """Count a fault; return whether it is reported."""
        self.row, self._last = self.row + 1, record
        return self.row <= FAULTS

    def end(self) -> Iterator[Record]:
        """End the row; yield a summary of the faults that were not reported."""
        if self.row > FAULTS:
            text = f"{self.row - FAULTS} more consecutive faults, up to this offset"
            yield Record({}, b"", self._last.offset, self._last.fault, text)
        self.row = 0


def _in_member(cursor: _Cursor, limit: int) -> Iterator[Record]:
    faults = 0
    while True:
        while True:
            cursor.position = _BLANK.match(cursor.data, cursor.position).end()  # type: ignore[union-attr]
            if cursor.position < len(cursor.data):
                break
            if not cursor.read_more():
                return
        record, can_continue = _next(cursor, limit)
        yield record
        if not record.fault:
            faults = 0
            continue
        faults += 1
        if faults >= FAULTS and cursor.members.is_compressed:
            cursor.members.abandon()
            return
        if not can_continue:
            return


def _next(cursor: _Cursor, limit: int) -> tuple[Record, bool]:
    """Return the record or fault at the position, and whether the member can be read further."""
    offset = cursor.offset
    if not cursor.ensure(5) or not cursor.data.startswith(b"WARC/", cursor.position):
        fault = cursor.members.fault or "bad_record"
        return Record({}, b"", offset, fault, "no WARC record begins here"), _resync(cursor, limit)
    headers, end = _head(cursor)
    length = _length(headers) if end > 0 else -1
    if length < 0:
        record = Record(headers, b"", offset, cursor.members.fault or "bad_record", "the record's head cannot be read")
        cursor.position += 5
        return record, _resync(cursor, limit)
    block = end - cursor.position
    if length > limit:
        cursor.position = end
        return Record(headers, b"", offset, "too_large", f"{length} bytes, more than {limit}"), _skip(cursor, length)
    is_whole = cursor.ensure(block + length)
    if is_whole and _ends_well(cursor, block + length):
        start = cursor.position + block
        cursor.position = start + length
        return Record(headers, cursor.data[start : start + length], offset), True
    start = cursor.position + block
    is_truncated = not is_whole and not cursor.members.is_compressed and not cursor.has_record_after(start - 4)
    fault = cursor.members.fault or ("truncated" if is_truncated else "wrong_length")
    detail = (
        cursor.members.detail
        or ("the archive ends in this record" if is_truncated else "")
        or f"the record does not end after its Content-Length of {length} bytes"
    )
    cursor.position = start
    return Record(headers, b"", offset, fault, detail), _resync(cursor, limit)


def _head(cursor: _Cursor) -> tuple[Fields, int]:
    """Return the record's fields and the block's start in ``cursor.data``; -1 when the head has no end."""
    while True:
        stop = _STOP.search(cursor.data, cursor.position + 5, cursor.position + HEAD_LIMIT)
        if stop or len(cursor.data) - cursor.position >= HEAD_LIMIT or not cursor.read_more():
            break
    over = stop.end() if stop and stop[0][:1] == b"\n" else stop.start() if stop else cursor.position + HEAD_LIMIT
    headers, end = parse_fields(cursor.data, cursor.position, over)
    return headers, end


def _length(headers: Fields) -> int:
    length = headers.get(b"content-length", b"")
    return int(length) if length.isdigit() and len(length) < 16 else -1


def _ends_well(cursor: _Cursor, size: int) -> bool:
    """Return whether the bytes after the record's ``size`` bytes end a record, so that Content-Length is right."""
    cursor.ensure(size + 9)
    end = cursor.position + size
    rest = cursor.data[end : end + 9].lstrip(b"\r\n")
    if rest.startswith(b"WARC/"):
        return True
    if cursor.members.fault:  # the member's last record, and its checksum is missing or wrong
        return False
    # The standard has two line ends; some writers omit one or both.
    return not rest or cursor.data.startswith(_END, end)


def _skip(cursor: _Cursor, length: int) -> bool:
    """Skip a block of ``length`` bytes; return False when the rest of the member is abandoned or missing."""
    if length > SKIP_LIMIT and cursor.members.is_compressed:
        cursor.members.abandon()
        return False
    remaining = length
    while remaining > 0:
        available = len(cursor.data) - cursor.position
        if available > remaining:
            cursor.position += remaining
            return True
        remaining -= available
        cursor.position = len(cursor.data)
        if not cursor.read_more():
            return False
    return True


def _resync(cursor: _Cursor, limit: int) -> bool:
    """Move to the next position in the member that looks like a record; return False when none is near."""
    searched = 0
    while True:
        match = _START.search(cursor.data, cursor.position)
        if match:
            cursor.position = match.start()
            return True
        step = max(len(cursor.data) - cursor.position - 10, 0)
        searched += step
        cursor.position += step
        if searched > 4 * limit and cursor.members.is_compressed:
            cursor.members.abandon()
            return False
        if not cursor.read_more():
            return False
