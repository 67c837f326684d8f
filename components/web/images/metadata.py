"""Remove metadata from image files: camera, location, author, comments, thumbnails, and every part whose use is not known.

Pixel data are copied byte for byte. Colour profiles, sizes, animation and EXIF's orientation stay. Sources: ITU T.81 annex B
(JPEG), W3C PNG third edition sections 5 and 11, GIF89a, the WebP container specification.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Iterator

from components.web.images.head import FRAMES
from components.web.images.opening import read_orientation

JPEG_KEPT = FRAMES | {0xC4, 0xCC, 0xDA, 0xDB, 0xDD}
"""Markers of frames, Huffman and arithmetic tables, scans, quantisation tables and restart intervals."""
WEBP_KEPT = frozenset([b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP", b"EXIF"])

PNG_KEPT = frozenset(
    b"IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP sBIT bKGD hIST pHYs sPLT cICP mDCv cLLi acTL fcTL fdAT".split()
)

_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")


class Unreadable(ValueError):
    """The file does not follow its format."""


def without_metadata(data: bytes, kind: str) -> bytes:
    """Return ``data``, an image of the format ``kind`` (JPEG, PNG, GIF or WEBP), without metadata.

    Raises:
        Unreadable: it cannot be parsed, so its metadata cannot be found.
    """
    try:
        return _BY_KIND[kind](data)
    except (IndexError, KeyError, struct.error):
        raise Unreadable(f"no complete {kind}") from None


def _jpeg(data: bytes) -> bytes:
    out = [b"\xff\xd8"]
    if data[:2] != b"\xff\xd8":
        raise Unreadable("no JPEG")
    at = 2
    while True:
        if data[at] != 0xFF:
            raise Unreadable("no marker where one should be")
        while data[at + 1] == 0xFF:  # fill bytes
            at += 1
        marker = data[at + 1]
        if marker == 0xD9:
            out.append(b"\xff\xd9")
            return b"".join(out)
        if marker == 0x01 or 0xD0 <= marker <= 0xD7:
            out.append(data[at : at + 2])
            at += 2
            continue
        (length,) = struct.unpack_from(">H", data, at + 2)
        segment, at = data[at : at + 2 + length], at + 2 + length
        if length < 2 or len(segment) != 2 + length:
            raise Unreadable("a segment is cut off")
        out.append(_jpeg_segment(marker, segment))
        if marker == 0xDA:
            end = _scan_end(data, at)
            out.append(data[at:end])
            at = end


def _jpeg_segment(marker: int, segment: bytes) -> bytes:
    body = segment[4:]
    if marker == 0xE1 and body.startswith(b"Exif\0\0"):
        exif = _only_orientation(body)
        return b"\xff\xe1" + struct.pack(">H", 8 + len(exif)) + body[:6] + exif if exif else b""
    if marker == 0xE0:  # JFXX is a thumbnail, and JFIF may end with one
        return b"\xff\xe0\0\x10" + body[:12] + b"\0\0" if body.startswith(b"JFIF\0") and len(body) >= 14 else b""
    if marker == 0xE2:
        return segment if body.startswith(b"ICC_PROFILE\0") else b""
    if marker == 0xEE:
        return b"\xff\xee\0\x0e" + body[:12] if body.startswith(b"Adobe") and len(body) >= 12 else b""
    return segment if marker in JPEG_KEPT else b""


def _scan_end(data: bytes, at: int) -> int:
    """Return the end of entropy-coded data: the next marker that is neither stuffing nor a restart."""
    if found := _MARKER.search(data, at):
        return found.start()
    raise Unreadable("a scan has no end")


def _only_orientation(exif: bytes) -> bytes:
    """Return EXIF data with the orientation alone; empty where that is upright."""
    # Most have none, and reading all tags takes longer than all else here.
    orientation = read_orientation(exif) if b"\x01\x12" in exif or b"\x12\x01" in exif else 1
    return b"II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0) if orientation > 1 else b""


def _png(data: bytes) -> bytes:
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise Unreadable("no PNG")
    out, at = [data[:8]], 8
    while True:
        length, name = struct.unpack_from(">I4s", data, at)
        chunk, at = data[at : at + 12 + length], at + 12 + length
        if len(chunk) != 12 + length:
            raise Unreadable("a chunk is cut off")
        if name in PNG_KEPT:
            out.append(chunk)
        if name == b"eXIf" and (exif := _only_orientation(chunk[8:-4])):
            out.append(struct.pack(">I", len(exif)) + name + exif + struct.pack(">I", zlib.crc32(name + exif)))
        if name == b"IEND":
            return b"".join(out)


def _webp(data: bytes) -> bytes:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        raise Unreadable("no WEBP")
    (size,) = struct.unpack_from("<I", data, 4)
    if 8 + size > len(data) + 1:
        raise Unreadable("it is cut off")
    chunks, parts = [b"WEBP"], list(_riff(data, 12, 8 + size))
    exif = next((_only_orientation(body) for name, body in parts if name == b"EXIF"), b"")
    for name, body in parts:
        if name == b"VP8X":
            body = bytes([body[0] & ~0x0C | (0x08 if exif else 0)]) + body[1:10]  # flags: EXIF, XMP
        if name == b"EXIF":
            body, exif = exif, b""  # a second one is ignored
        if name == b"ANMF":
            frame = (_chunk(*each) for each in _riff(body, 16, len(body)) if each[0] in (b"ALPH", b"VP8 ", b"VP8L"))
            body = body[:16] + b"".join(frame)
        if body and name in WEBP_KEPT:
            chunks.append(_chunk(name, body))
    content = b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(content)) + content


def _riff(data: bytes, at: int, end: int) -> Iterator[tuple[bytes, bytes]]:
    while at + 8 <= end:
        name, length = struct.unpack_from("<4sI", data, at)
        body, at = data[at + 8 : at + 8 + length], at + 8 + length + length % 2
        if len(body) != length:
            raise Unreadable("a chunk is cut off")
        yield name, body


def _chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def _gif(data: bytes) -> bytes:
    if data[:6] not in (b"GIF87a", b"GIF89a"):
        raise Unreadable("no GIF")
    at = 13 + (3 << (data[10] & 7) + 1 if data[10] & 0x80 else 0)
    out = [data[:at]]
    while True:
        start = at
        if at == len(data) or data[at] == 0x3B:  # many GIFs lack the trailer
            return b"".join(out) + b";"
        if data[at] == 0x21:
            label, at = data[at + 1], _blocks_end(data, at + 2)
            looping = label == 0xFF and data[start + 3 : start + 14] in (b"NETSCAPE2.0", b"ANIMEXTS1.0")
            if label == 0xF9 and data[start + 2] == 4:
                out.append(data[start : start + 7] + b"\0")
            elif looping and data[start + 14 : start + 16] == b"\3\1":
                out.append(data[start : start + 18] + b"\0")
        elif data[at] == 0x2C:
            packed = data[at + 9]
            at = _blocks_end(data, at + 11 + (3 << (packed & 7) + 1 if packed & 0x80 else 0))
            out.append(data[start:at])
        else:
            raise Unreadable("no block where one should be")


def _blocks_end(data: bytes, at: int) -> int:
    while data[at]:
        at += 1 + data[at]
    return at + 1


_BY_KIND: dict[str, Callable[[bytes], bytes]] = {"JPEG": _jpeg, "PNG": _png, "WEBP": _webp, "GIF": _gif}
