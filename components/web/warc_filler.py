"""Build filler: an empty WARC record of a given length, written over an answer that was taken down.

It is one complete gzip member, so tools that walk the segment find the next record at its position.
"""

from __future__ import annotations

import struct
import zlib

_HEAD = (
    b"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>\r\n"
    b"WARC-Date: 1970-01-01T00:00:00Z\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n"
)
_COMMENT = 16
"""Flag of a header with a zero-terminated comment (RFC 1952, 2.3.1); the comment fills the bytes that a block cannot."""
_BLOCK = 65535
"""Maximum bytes of a stored block (RFC 1951, 3.2.4)."""
SHORTEST = 18 + 5 + len(_HEAD % 0) + 4
"""Minimum length of a filler record in bytes."""


def build_filler(length: int) -> bytes:
    """Return a gzip member of exactly ``length`` bytes that holds one WARC ``metadata`` record of spaces.

    Raises:
        ValueError: ``length`` is less than ``SHORTEST``; no record of a fetch store is that short.
    """
    if length < SHORTEST:
        raise ValueError(f"{length} bytes are too few for a WARC record, which takes {SHORTEST}")
    spaces = length - SHORTEST
    while _member_size(spaces) > length:
        spaces -= _member_size(spaces) - length
    record = _record(spaces)
    comment = b" " * (length - _member_size(spaces) - 1) + b"\0" if length > _member_size(spaces) else b""
    pieces = [bytes((31, 139, 8, _COMMENT if comment else 0)) + struct.pack("<IBB", 0, 0, 255) + comment]
    for start in range(0, len(record), _BLOCK):
        block = record[start : start + _BLOCK]
        pieces.append(struct.pack("<BHH", start + _BLOCK >= len(record), len(block), len(block) ^ 0xFFFF) + block)
    return b"".join([*pieces, struct.pack("<II", zlib.crc32(record), len(record) & 0xFFFFFFFF)])


def _record(spaces: int) -> bytes:
    return _HEAD % spaces + b" " * spaces + b"\r\n\r\n"


def _member_size(spaces: int) -> int:
    plain = len(_HEAD % spaces) + spaces + 4
    return 18 + 5 * -(-plain // _BLOCK) + plain
