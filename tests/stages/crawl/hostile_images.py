"""Image files of the hostile web: valid ones, and ones that are expensive to decode."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

from PIL import Image


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return one chunk of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, *more: bytes, rows: int | None = None) -> bytes:
    """Return a black PNG of one bit per pixel; with ``rows``, fewer rows than its header states."""
    packer = zlib.compressobj(9)
    line = bytes(1 + (width + 7) // 8)
    left, data = height if rows is None else rows, b""
    while left > 0:
        block = min(left, max(1, 1_000_000 // len(line)))
        data += packer.compress(line * block)
        left -= block
    head_ = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (chunk(b"IHDR", head_), *more, chunk(b"IDAT", data + packer.flush()), chunk(b"IEND", b""))
    )


def jpeg(**options: Any) -> bytes:
    """Return a valid JPEG of 200 x 150 px."""
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((200, 150)).save(buffer, "JPEG", **options)
    return buffer.getvalue()


def scans(number: int, side: int = 4000) -> bytes:
    """Return a progressive JPEG with ``number`` extra scans; a decoder visits all blocks for each scan."""
    buffer = io.BytesIO()
    Image.new("L", (side, side)).save(buffer, "JPEG", progressive=True, quality=20)
    data = buffer.getvalue()
    last = data.rindex(b"\xff\xda")  # the last scan is repeated
    return data[:last] + data[last:-2] * number + data[-2:]
