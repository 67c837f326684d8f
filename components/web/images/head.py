"""Detect an image's format and size from its first bytes; they are used only to refuse an image. Nothing is decoded.

JPEG (ITU-T T.81, B.2), PNG (W3C PNG 11.2.2), GIF (GIF89a, 18-23) and WEBP (RFC 9649).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

SNIFF = 1024
"""Bytes after which an image's format is known."""
_STEPS = 10_000
"""Maximum markers or blocks examined; a longer header is left to the decoder."""
_FILL = re.compile(rb"\xff*")
_BARE = frozenset([0x01, *range(0xD0, 0xD8)])
"""JPEG markers without a length: TEM and RST0 to RST7."""
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG start-of-frame markers: SOF0 to SOF15 without DHT, JPG and DAC."""


FORMATS = {"JPEG": "jpg", "PNG": "png", "GIF": "gif", "WEBP": "webp"}
"""Supported formats, with the extension of their media members."""
_SIGNATURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a")
_OTHER_SIGNATURES = {"TIFF": (b"II*\x00", b"MM\x00*"), "BMP": (b"BM",), "ICO": (b"\x00\x00\x01\x00",), "MNG": (b"\x8aMNG",)}


def detect_format(data: bytes) -> str:
    """Return the image format that the first bytes announce, or ''."""
    if data.startswith(_SIGNATURES[0]):
        return "JPEG"
    if data.startswith(_SIGNATURES[1]):
        return "PNG"
    if data.startswith(_SIGNATURES[2:]):
        return "GIF"
    if data[:4] == b"RIFF":
        return "WEBP" if data[8:12] == b"WEBP" else ""
    for name, signatures in _OTHER_SIGNATURES.items():
        if data.startswith(signatures):
            return name
    if data[4:8] == b"ftyp":
        return "AVIF/HEIF"
    # Only after all signatures above could have matched, so that more bytes do not change the result.
    return "SVG" if len(data) >= 12 and b"<svg" in data[:1024].lower() else ""


def guess_content(data: bytes) -> str:
    """Return what bytes that are no image seem to be: empty, html or unknown."""
    if not data:
        return "empty"
    start = data[:512].lstrip().lower()
    return "html" if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")) else "unknown"


def find_exceeded_limit(width: int, height: int, *, pixels: int, side: int) -> str:
    """Return the limit that an image of ``width`` × ``height`` px exceeds, as the ledger states it; '' when it exceeds none."""
    if width * height > pixels:
        return f"{pixels} px in all"
    return f"{side} px a side" if max(width, height) > side else ""


@dataclass(frozen=True)
class Head:
    """The format and size that the first bytes state."""

    format: str
    """One of :data:`FORMATS`, another format's name, or '' for no image."""
    width: int = 0
    """px; 0 where the header does not state it, or states an invalid value."""
    height: int = 0
    """px"""


class ShortHeader(Exception):
    """The header extends beyond the available bytes."""


def read_head(data: bytes, *, last: bool = False) -> Head | None:
    """Return the header in ``data``, the first bytes of an image; None while more bytes are needed, which ``last`` rules out."""
    kind = detect_format(data)
    if not kind:
        return Head("") if last or len(data) >= SNIFF else None
    if kind not in FORMATS:
        return Head(kind)
    try:
        width, height = _SIZES[kind](data)
    except ShortHeader:
        return Head(kind) if last else None
    return Head(kind, width, height) if width > 0 and height > 0 else Head(kind)


def _number(data: bytes, at: int, length: int, order: Literal["big", "little"]) -> int:
    if at + length > len(data):
        raise ShortHeader
    return int.from_bytes(data[at : at + length], order)


def walk_jpeg(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield (marker, start of the content, end) of the segments before the first scan; an end may be beyond the data.

    Raises:
        ShortHeader: the header extends beyond ``data``.
    """
    at = 2
    for _ in range(_STEPS):
        if _number(data, at, 1, "big") != 0xFF:
            return
        marker = _number(data, at + 1, 1, "big")
        if marker == 0xFF:  # fill bytes: the last one begins the marker
            at = _FILL.match(data, at).end() - 1  # type: ignore[union-attr]  # it matches everywhere
            continue
        if marker in _BARE:  # a marker without a segment
            at += 2
            continue
        if marker in (0x00, 0xD8, 0xD9, 0xDA):  # stuffing, a second start, the end, or a scan
            return
        length = _number(data, at + 2, 2, "big")
        if length < 2:
            return
        yield marker, at + 4, at + 2 + length
        at += 2 + length


def _jpeg(data: bytes) -> tuple[int, int]:
    for marker, start, _ in walk_jpeg(data):
        if marker in FRAMES:
            return _number(data, start + 3, 2, "big"), _number(data, start + 1, 2, "big")
    return 0, 0


def _png(data: bytes) -> tuple[int, int]:
    if _number(data, 8, 4, "big") != 13 or (len(data) >= 16 and data[12:16] != b"IHDR"):
        return 0, 0
    width, height = _number(data, 16, 4, "big"), _number(data, 20, 4, "big")
    return (width, height) if max(width, height) < 2**31 else (0, 0)


def _gif(data: bytes) -> tuple[int, int]:
    """Return the screen's size, enlarged to the first frame where that extends further, as decoders do."""
    width, height, flags = _number(data, 6, 2, "little"), _number(data, 8, 2, "little"), _number(data, 10, 1, "little")
    at, block = 13 + (3 << (flags & 7) + 1 if flags & 0x80 else 0), 0x21
    in_extension = False
    for _ in range(_STEPS):
        block = _number(data, at, 1, "little")
        if in_extension:  # an extension: sub-blocks with a size each, until an empty one
            in_extension, at = block > 0, at + 1 + block
        elif block == 0x21:
            in_extension, at = True, at + 2
        else:
            break
    if in_extension or block != 0x2C:
        return 0, 0
    left, top, frame_width, frame_height = (_number(data, at + step, 2, "little") for step in (1, 3, 5, 7))
    return max(width, left + frame_width), max(height, top + frame_height)


def _webp(data: bytes) -> tuple[int, int]:
    if len(data) < 16:
        raise ShortHeader
    chunk = data[12:16]
    if chunk == b"VP8X":
        return _number(data, 24, 3, "little") + 1, _number(data, 27, 3, "little") + 1
    if chunk == b"VP8L":
        sizes = _number(data, 21, 4, "little")
        return ((sizes & 0x3FFF) + 1, (sizes >> 14 & 0x3FFF) + 1) if data[20] == 0x2F else (0, 0)
    if chunk == b"VP8 ":
        width, height = _number(data, 26, 2, "little"), _number(data, 28, 2, "little")
        return (width & 0x3FFF, height & 0x3FFF) if data[23:26] == b"\x9d\x01\x2a" else (0, 0)
    return 0, 0


_SIZES = {"JPEG": _jpeg, "PNG": _png, "GIF": _gif, "WEBP": _webp}
