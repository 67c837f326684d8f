"""A WARC record that says nothing, of any wanted length: what is written over an answer that was taken down.

It is one whole gzip member, so every tool that walks the segment finds the next record where it was.
"""

from __future__ import annotations

import struct
import zlib

_HEAD = (
    b"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>\r\n"
    b"WARC-Date: 1970-01-01T00:00:00Z\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n"
)
_COMMENT = 16
"""RFC 1952, 2.3.1: the flag of a header with a zero-terminated comment; it takes up the bytes that do not fill a block."""
_BLOCK = 65535
"""RFC 1951, 3.2.4: bytes of a block that is stored as it is."""
SHORTEST = 18 + 5 + len(_HEAD % 0) + 4


def build_filler(length: int) -> bytes:
    """A gzip member of exactly ``length`` bytes that holds one WARC ``metadata`` record of spaces, about nothing.

    Raises:
        ValueError: ``length`` is less than ``SHORTEST``, which no record of a fetch store is.
    """
    if length < SHORTEST:
        raise ValueError(f"{length} bytes hold no WARC record")
    spaces = length - SHORTEST
    while _size(spaces) > length:
        spaces -= _size(spaces) - length
    plain = _plain(spaces)
    comment = b" " * (length - _size(spaces) - 1) + b"\0" if length > _size(spaces) else b""
    pieces = [bytes((31, 139, 8, _COMMENT if comment else 0)) + struct.pack("<IBB", 0, 0, 255) + comment]
    for at in range(0, len(plain), _BLOCK):
        block = plain[at : at + _BLOCK]
        pieces.append(struct.pack("<BHH", at + _BLOCK >= len(plain), len(block), len(block) ^ 0xFFFF) + block)
    return b"".join([*pieces, struct.pack("<II", zlib.crc32(plain), len(plain) & 0xFFFFFFFF)])


def _plain(spaces: int) -> bytes:
    return _HEAD % spaces + b" " * spaces + b"\r\n\r\n"


def _size(spaces: int) -> int:
    plain = len(_HEAD % spaces) + spaces + 4
    return 18 + 5 * -(-plain // _BLOCK) + plain
