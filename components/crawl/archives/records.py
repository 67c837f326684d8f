"""WARC records out of an archive's members: whole ones as they are, broken ones as named faults, in order.

Memory is bounded by the size limit of a record, not by the archive. A fault costs its own record: reading goes on at the
next place that looks like one. Format: ISO 28500:2017 (WARC 1.1). Not in scope: what a record's block says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from components.crawl.archives.fields import Fields, fields
from components.crawl.archives.members import Members
from components.crawl.archives.opening import Stream

LIMIT = 1 << 24
"""Bytes of a record, decompressed; a larger one is a fault. (Common Crawl cuts pages at 5 MiB.)"""
HEAD_LIMIT = 1 << 16
_START = re.compile(rb"WARC/1\.\d\r?\n")
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
    """'' or truncated | bad_gzip | not_gzip | bad_record | wrong_length | too_large."""
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
    faults: list[Record] = field(default_factory=list)

    def more(self) -> bool:
        piece = self.members.piece()
        if not piece:
            return False
        self.dropped += self.at
        self.data = self.data[self.at :] + piece if self.at < len(self.data) else piece
        self.at = 0
        return True

    def holds(self, size: int) -> bool:
        """Whether ``size`` bytes can be had from here."""
        while len(self.data) - self.at < size:
            if not self.more():
                return False
        return True

    @property
    def offset(self) -> int:
        return self.members.offset if self.members.gzipped else self.members.offset + self.dropped + self.at


def records(stream: Stream, limit: int = LIMIT) -> Iterator[Record]:
    """The records and faults of an archive, gzip or plain, in order.

    Args:
        stream: the archive's bytes.
        limit: bytes of one record, decompressed, that are held at most.
    """
    members = Members(stream)
    while members.next():
        data = members.piece()
        if members.whole:  # nearly always: a member of one record
            _, headers, start = fields(data, 0)
            if start > 0 and _length(headers) == len(data) - start - 4 and data.startswith(b"WARC/") and data.endswith(_END):
                yield Record(headers, data[start:-4], members.offset)
                continue
        cursor = _Cursor(members, data)
        faulty = False
        for record in _in_member(cursor, limit):
            faulty |= bool(record.fault)
            yield record
        if members.fault and not faulty:
            yield Record({}, b"", members.offset, members.fault, "the gzip member is not whole")


def _in_member(cursor: _Cursor, limit: int) -> Iterator[Record]:
    while True:
        while cursor.holds(1) and cursor.data[cursor.at] in b"\r\n":
            cursor.at += 1
        if not cursor.holds(1):
            return
        offset = cursor.offset
        if not cursor.holds(5) or not cursor.data.startswith(b"WARC/", cursor.at):
            fault = cursor.members.fault or "bad_record"
            yield Record({}, b"", offset, fault, "no WARC record begins here")
            if not _resync(cursor, limit):
                return
            continue
        headers, end = _head(cursor)
        # A head that another record's begins in is that of a torn record.
        length = _length(headers) if end > 0 and not _START.search(cursor.data, cursor.at + 5, end) else -1
        if length < 0:
            yield Record(headers, b"", offset, cursor.members.fault or "bad_record", "the record's head cannot be read")
            cursor.at += 5
            if not _resync(cursor, limit):
                return
            continue
        block = end - cursor.at
        if length > limit:
            yield Record(headers, b"", offset, "too_large", f"{length} bytes, more than {limit}")
            cursor.at = end
            if not _skip(cursor, length, limit):
                return
            continue
        whole = cursor.holds(block + length)
        if whole and _ends_well(cursor, block + length):
            start = cursor.at + block
            yield Record(headers, cursor.data[start : start + length], offset)
            cursor.at += block + length
            continue
        start = cursor.at + block
        following = cursor.data.find(b"\r\n\r\nWARC/1.", start - 4)
        torn = not whole and not cursor.members.gzipped and following < 0
        fault = cursor.members.fault or ("truncated" if torn else "wrong_length")
        detail = (
            "the archive ends in this record" if torn else f"the record does not end after its Content-Length of {length} bytes"
        )
        if cursor.members.fault:
            detail = "the gzip member is not whole"
        yield Record(headers, b"", offset, fault, detail)
        cursor.at = start
        if not _resync(cursor, limit):
            return


def _head(cursor: _Cursor) -> tuple[Fields, int]:
    """The record's fields, and where in ``cursor.data`` its block begins; -1 when the head has no end."""
    while True:
        _, headers, end = fields(cursor.data, cursor.at)
        if end > 0 or len(cursor.data) - cursor.at > HEAD_LIMIT or not cursor.more():
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


def _skip(cursor: _Cursor, length: int, limit: int) -> bool:
    """Read past a block of ``length`` bytes; False when the rest of the member is not worth reading."""
    if length > SKIP_LIMIT and cursor.members.gzipped:
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
        if looked > 4 * limit and cursor.members.gzipped:
            cursor.members.abandon()
            return False
        if not cursor.more():
            return False
