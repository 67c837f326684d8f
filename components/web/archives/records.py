"""WARC records out of an archive's members: whole ones as they are, broken ones as named faults, in order.

Memory is bounded by the size limit of a record, time by the bytes read and decompressed. A fault costs its own record:
reading goes on at the next place that looks like one. Format: ISO 28500:2017 (WARC 1.1). Not in scope: what a block says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from components.web.archives.expansion import Expansion
from components.web.archives.fields import Fields, parse_fields
from components.web.archives.kinds import open_members
from components.web.archives.members import Members
from components.web.archives.opening import Stream

LIMIT = 1 << 24
"""Bytes of a record, decompressed; a larger one is a fault. (Common Crawl cuts pages at 5 MiB.)"""
HEAD_LIMIT = 1 << 16
"""Bytes of a record's head."""
FAULTS = 1000
"""Faults in a row that are told one by one; then a compressed member is left, and of a plain archive the rest is counted."""
_START = re.compile(rb"WARC/1\.\d\r?\n")
_STOP = re.compile(rb"\n\r?\n|WARC/1\.\d\r?\n")
"""What ends a head: an empty line, or another record's beginning, since the record was torn then."""
_BLANK = re.compile(rb"[\r\n]*+")
_END = b"\r\n\r\n"
SKIP_LIMIT = 1 << 30
"""Decompressed bytes of one record that are read past at most; then its member is abandoned: it may be a bomb."""


@dataclass(slots=True)
class Record:
    """One WARC record, or a fault (then ``fault`` is not empty, and the block is)."""

    headers: Fields
    """Names in lower case."""
    block: bytes
    offset: int
    """Where it begins, in bytes of the archive as stored; in a gzip member of several records, where the member does."""
    fault: str = ""
    """'' or truncated | bad_gzip | not_gzip | bad_zstd | not_zstd | bad_record | wrong_length | too_large."""
    detail: str = ""

    @property
    def type(self) -> bytes:
        return self.headers.get(b"warc-type", b"").lower()

    @property
    def url(self) -> str:
        return self.headers.get(b"warc-target-uri", b"").strip(b"<>").decode("utf-8", "replace")


@dataclass
class _Cursor:
    """What is in hand of the current member."""

    members: Members
    data: bytes = b""
    at: int = 0
    dropped: int = 0
    """Bytes of the member before ``data``."""
    ended: bool = False
    """Whether the member has given all it holds."""
    _last_end: int | None = None

    def more(self, size: int = 1) -> bool:
        """Take at least ``size`` bytes more, if there are."""
        pieces: list[bytes | memoryview] = [memoryview(self.data)[self.at :]]
        while size > 0 and not self.ended:
            piece = self.members.piece()
            self.ended = not piece
            pieces.append(piece)
            size -= len(piece)
        if len(pieces) == 1 or not (pieces[1]):
            return False
        self.dropped += self.at
        self.data, self.at = b"".join(pieces), 0
        return True

    def holds(self, size: int) -> bool:
        """Whether ``size`` bytes can be had from here."""
        held = len(self.data) - self.at
        if held < size and not self.ended:
            # By halves, since all that is held is copied, and what is torn may want a little more again and again.
            self.more(max(size - held, held // 2))
            held = len(self.data) - self.at
        return held >= size

    def ends_behind(self, at: int) -> bool:
        """Of a member that has ended: whether an end of a record, with another's beginning, lies at ``at`` or behind."""
        if self._last_end is None:
            self._last_end = self.dropped + self.data.rfind(b"\r\n\r\nWARC/1.")
        return self._last_end >= self.dropped + at

    @property
    def offset(self) -> int:
        return self.members.offset if self.members.packed else self.members.offset + self.dropped + self.at


def read_records(stream: Stream, limit: int = LIMIT, expansion: Expansion | None = None) -> Iterator[Record]:
    """The records and faults of an archive, gzip, zstd or plain, in order.

    Args:
        stream: the archive's bytes.
        limit: bytes of one record, decompressed, that are held at most.
        expansion: what the archive has grown so far, when this is a part of one.
    """
    members = open_members(stream, expansion or Expansion())
    faults = _Faults()
    while members.next():
        data = members.piece()
        if members.whole:  # nearly always: a member of one record
            _, headers, start = parse_fields(data, 0, HEAD_LIMIT)
            if start > 0 and _length(headers) == len(data) - start - 4 and data.startswith(b"WARC/") and data.endswith(_END):
                if faults.row:
                    yield from faults.end()
                yield Record(headers, data[start:-4], members.offset)
                continue
        cursor = _Cursor(members, data)
        faulty = False
        for record in _in_member(cursor, limit):
            if not record.fault:
                yield from faults.end()
            elif not faults.tells(record):
                continue
            faulty |= bool(record.fault)
            yield record
        if members.fault and (members.is_bomb or not faulty):
            fault = Record({}, b"", members.offset, members.fault, members.detail)
            if faults.tells(fault):
                yield fault
    yield from faults.end()


class _Faults:
    """Counts faults in a row: behind ``FAULTS`` of them only their number is told."""

    def __init__(self) -> None:
        self.row = 0
        self._last = Record({}, b"", 0)

    def tells(self, record: Record) -> bool:
        """Count a fault, and return whether it is told."""
        self.row, self._last = self.row + 1, record
        return self.row <= FAULTS

    def end(self) -> Iterator[Record]:
        """What is told at the end of the row."""
        if self.row > FAULTS:
            text = f"{self.row - FAULTS} more in a row, up to here, cannot be read"
            yield Record({}, b"", self._last.offset, self._last.fault, text)
        self.row = 0


def _in_member(cursor: _Cursor, limit: int) -> Iterator[Record]:
    faults = 0
    while True:
        while True:
            cursor.at = _BLANK.match(cursor.data, cursor.at).end()  # type: ignore[union-attr]
            if cursor.at < len(cursor.data):
                break
            if not cursor.more():
                return
        record, found = _next(cursor, limit)
        yield record
        if not record.fault:
            faults = 0
            continue
        faults += 1
        if faults >= FAULTS and cursor.members.packed:
            cursor.members.abandon()
            return
        if not found:
            return


def _next(cursor: _Cursor, limit: int) -> tuple[Record, bool]:
    """What begins here, and whether reading can go on behind it."""
    offset = cursor.offset
    if not cursor.holds(5) or not cursor.data.startswith(b"WARC/", cursor.at):
        fault = cursor.members.fault or "bad_record"
        return Record({}, b"", offset, fault, "no WARC record begins here"), _resync(cursor, limit)
    headers, end = _head(cursor)
    length = _length(headers) if end > 0 else -1
    if length < 0:
        record = Record(headers, b"", offset, cursor.members.fault or "bad_record", "the record's head cannot be read")
        cursor.at += 5
        return record, _resync(cursor, limit)
    block = end - cursor.at
    if length > limit:
        cursor.at = end
        return Record(headers, b"", offset, "too_large", f"{length} bytes, more than {limit}"), _skip(cursor, length)
    whole = cursor.holds(block + length)
    if whole and _ends_well(cursor, block + length):
        start = cursor.at + block
        cursor.at = start + length
        return Record(headers, cursor.data[start : start + length], offset), True
    start = cursor.at + block
    torn = not whole and not cursor.members.packed and not cursor.ends_behind(start - 4)
    fault = cursor.members.fault or ("truncated" if torn else "wrong_length")
    detail = (
        cursor.members.detail
        or ("the archive ends in this record" if torn else "")
        or f"the record does not end after its Content-Length of {length} bytes"
    )
    cursor.at = start
    return Record(headers, b"", offset, fault, detail), _resync(cursor, limit)


def _head(cursor: _Cursor) -> tuple[Fields, int]:
    """The record's fields, and where in ``cursor.data`` its block begins; -1 when its head has no end of its own."""
    while True:
        stop = _STOP.search(cursor.data, cursor.at + 5, cursor.at + HEAD_LIMIT)
        if stop or len(cursor.data) - cursor.at >= HEAD_LIMIT or not cursor.more():
            break
    over = stop.end() if stop and stop[0][:1] == b"\n" else stop.start() if stop else cursor.at + HEAD_LIMIT
    _, headers, end = parse_fields(cursor.data, cursor.at, over)
    return headers, end


def _length(headers: Fields) -> int:
    length = headers.get(b"content-length", b"")
    return int(length) if length.isdigit() and len(length) < 16 else -1


def _ends_well(cursor: _Cursor, size: int) -> bool:
    """Whether what follows the record's ``size`` bytes is the end of a record: the Content-Length was right."""
    cursor.holds(size + 9)
    end = cursor.at + size
    rest = cursor.data[end : end + 9].lstrip(b"\r\n")
    if rest.startswith(b"WARC/"):
        return True
    if cursor.members.fault:  # the last of a torn member: its checksum did not come, or was wrong
        return False
    # Two line ends by the standard; some writers leave out one or both.
    return not rest or cursor.data.startswith(_END, end)


def _skip(cursor: _Cursor, length: int) -> bool:
    """Read past a block of ``length`` bytes; False when the rest of the member is not worth reading."""
    if length > SKIP_LIMIT and cursor.members.packed:
        cursor.members.abandon()
        return False
    left = length
    while left > 0:
        held = len(cursor.data) - cursor.at
        if held > left:
            cursor.at += left
            return True
        left -= held
        cursor.at = len(cursor.data)
        if not cursor.more():
            return False
    return True


def _resync(cursor: _Cursor, limit: int) -> bool:
    """Go to the next place in the member that looks like a record; False when none is near."""
    looked = 0
    while True:
        found = _START.search(cursor.data, cursor.at)
        if found:
            cursor.at = found.start()
            return True
        step = max(len(cursor.data) - cursor.at - 10, 0)
        looked += step
        cursor.at += step
        if looked > 4 * limit and cursor.members.packed:
            cursor.members.abandon()
            return False
        if not cursor.more():
            return False
