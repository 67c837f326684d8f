"""Small valid images that cost much, and broken ones that ask for much, each built by hand."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable

from PIL import Image

SIDE = 9400
"""px; its square is just below the limit on px."""
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""First column and row, steps between columns and rows of each pass of an interlaced PNG."""


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, depth: int = 8, colour: int = 2, extra: bytes = b"", *, interlaced: bool = False) -> bytes:
    """A PNG of zeros; ``extra`` stands before its pixels."""
    row = CHANNELS[colour] * depth
    size = height * (1 + (width * row + 7) // 8)
    if interlaced:
        passes = [(-(-(width - x) // step), -(-(height - y) // down)) for x, y, step, down in ADAM7]
        size = sum(rows * (1 + (columns * row + 7) // 8) for columns, rows in passes)
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", packed(size)) + chunk(b"IEND", b"")


def line(height: int) -> bytes:
    """A PNG that says it is one px wide, with the pixels of 1 × 1."""
    return png(1, 1).replace(struct.pack(">II", 1, 1), struct.pack(">II", 1, height))


def packed(size: int) -> bytes:
    """A zlib stream of zeros, put together from one compressed block: a large one is made as fast as a small one."""
    block, rest = zlib.compressobj(9, wbits=-15), zlib.compressobj(9, wbits=-15)
    whole = block.compress(bytes(1 << 20)) + block.flush(zlib.Z_FULL_FLUSH)
    checksum = size % 65521 << 16 | 1  # Adler-32 of zeros
    end = rest.compress(bytes(size % (1 << 20))) + rest.flush()
    return b"\x78\xda" + whole * (size >> 20) + end + struct.pack(">I", checksum)


def jpeg(width: int, height: int, mode: str = "RGB", **options: object) -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, (width, height)).save(buffer, "JPEG", **options)
    return buffer.getvalue()


def many_scans(side: int, count: int) -> bytes:
    """A progressive JPEG whose last scan comes again and again."""
    data = jpeg(side, side, progressive=True)
    at, end = data.rindex(b"\xff\xda"), data.rindex(b"\xff\xd9")
    return data[:end] + data[at:end] * count + data[end:]


def announced(width: int, height: int, *, frame: int = 0xC0, restarts: int = 0) -> bytes:
    """A JPEG whose header says ``width`` × ``height`` px and another kind of frame, with the data of 16 × 16 px."""
    data = jpeg(16, 16)
    at, scan = data.index(b"\xff\xc0"), data.index(b"\xff\xda")
    start = data[at : at + 2].replace(b"\xc0", bytes([frame])) + data[at + 2 : at + 5] + struct.pack(">HH", height, width)
    interval = b"\xff\xdd\0\4" + struct.pack(">H", restarts) if restarts else b""
    return data[:at] + start + data[at + 9 : scan] + interval + data[scan:]


def height_later(width: int, height: int) -> bytes:
    """A JPEG that tells its height behind its first scan (DNL)."""
    data = announced(width, 0)
    return data[:-2] + b"\xff\xdc\0\4" + struct.pack(">H", height) + data[-2:]


def webp(width: int, height: int) -> bytes:
    """A lossless WEBP of one colour: 36 bytes, whatever its size."""
    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), 9).save(buffer, "WEBP", lossless=True, quality=0, method=0)
    data = bytearray(buffer.getvalue())
    result = int.from_bytes(data[21:25], "little") >> 28 << 28
    data[21:25] = (result | (height - 1) << 14 | (width - 1)).to_bytes(4, "little")
    return bytes(data)


def animated(kind: str, frames: int, side: int) -> bytes:
    buffer = io.BytesIO()
    first, *rest = [Image.new("RGB", (side, side), (number % 251, 3, 9)) for number in range(frames)]
    first.save(buffer, kind, save_all=True, append_images=rest)
    return buffer.getvalue()


def gif_outside(left: int, top: int) -> bytes:
    """A GIF of 10 × 10 px whose first frame lies far outside its screen."""
    buffer = io.BytesIO()
    Image.new("P", (10, 10)).save(buffer, "GIF")
    data = bytearray(buffer.getvalue())
    at = data.index(b"\x2c", 13)
    data[at + 1 : at + 5] = struct.pack("<HH", left, top)
    return bytes(data)


def exif_of_overlaps(tags: int, size: int) -> bytes:
    """EXIF of ``tags`` values that are all the same ``size`` bytes."""
    table = b"".join(struct.pack("<HHII", 0x9000 + number, 7, size, 8) for number in range(tags))
    return b"II*\0" + struct.pack("<I", 8 + size) + bytes(size) + struct.pack("<H", tags) + table + bytes(4)


def apng(side: int) -> bytes:
    control = chunk(b"acTL", struct.pack(">II", 2, 0))
    frame = chunk(b"fcTL", struct.pack(">IIIIIHHBB", 0, side, side, 0, 0, 1, 1, 0, 0))
    return png(side, side, 8, 6, control + frame)


LARGE, OVER, CUT = "image_too_large", "image_over_budget", "truncated_image"
TEXT = b"x\0\0" + packed(1 << 20)
BOMBS: dict[str, tuple[Callable[[], bytes], tuple[str, str]]] = {
    # What it is: (how it is made, the rule it ends with, and what the detail begins with)
    "wide": (lambda: png(20_001, 300), (LARGE, "20001 x 300 px")),
    "a line": (lambda: line(89_000_000), (LARGE, "1 x 89000000 px")),
    "webp": (lambda: webp(16_383, 16_383), (LARGE, "16383 x 16383 px")),
    "gif outside": (lambda: gif_outside(65_000, 4), (LARGE, "65010 x 14 px")),
    "webp below the limit": (lambda: webp(SIDE, SIDE), (OVER, "memory")),
    "scans": (lambda: many_scans(3000, 50_000), (OVER, "cpu")),
    "profile": (lambda: png(300, 300, extra=chunk(b"iCCP", b"x\0\0" + packed(1 << 27))), (OVER, "memory")),
    "text": (lambda: png(300, 300, extra=chunk(b"zTXt", b"x\0\0" + packed(1 << 27))), (OVER, "memory")),
    "unicode text": (lambda: png(300, 300, extra=chunk(b"iTXt", b"x\0\1\0\0\0" + packed(1 << 27))), (OVER, "memory")),
    "many texts": (lambda: png(300, 300, extra=chunk(b"zTXt", TEXT) * 70), (OVER, "memory")),
    "exif": (lambda: png(300, 300, extra=chunk(b"eXIf", exif_of_overlaps(2000, 1 << 20))), (OVER, "memory")),
    "no height": (lambda: height_later(SIDE, SIDE), (CUT, "has the signature of a JPEG")),
    "cut": (lambda: png(SIDE, SIDE, 1, 0)[:5000], (CUT, "PNG: ")),
    "see-through bit": (lambda: png(SIDE, SIDE, 1, 0, chunk(b"tRNS", bytes(2))), ("", "")),
    "see-through colour": (lambda: png(SIDE, SIDE, 8, 2, chunk(b"tRNS", bytes(6))), ("", "")),
    "gif frames": (lambda: animated("GIF", 1000, 40), ("", "")),
}
SOUND: dict[str, tuple[Callable[[], bytes], tuple[str, str]]] = {
    # Large, and good at a cost that the budget allows.
    "animated png": (lambda: apng(SIDE), ("", "")),
    "arithmetic": (lambda: announced(SIDE, SIDE, frame=0xC9), ("", "")),
    "restarts": (lambda: announced(SIDE, SIDE, restarts=1), ("", "")),
    "one bit": (lambda: png(SIDE, SIDE, 1, 0), ("", "")),
    "deep": (lambda: png(SIDE, SIDE, 16, 2), ("", "")),
    "interlaced": (lambda: png(SIDE, SIDE, 1, 0, interlaced=True), ("", "")),
    "print": (lambda: jpeg(SIDE, SIDE, "CMYK"), ("", "")),
    "webp frames": (lambda: animated("WEBP", 300, 40), ("", "")),
}
