"""How large an image says it is, read from its first bytes: a header, believed only for a refusal.

JPEG (ITU-T T.81, B.2), PNG (W3C PNG 11.2.2), GIF (GIF89a, 18-23) and WEBP (RFC 9649). Nothing is decoded and nothing
beyond the bytes given is touched. Not in scope: whether the image is whole (``image``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from components.web.images.kinds import FORMATS, detect_format

SNIFF = 1024
"""Bytes after which it is plain which format, if any, an image has."""
_STEPS = 10_000
"""Markers or blocks looked through; a header that has more says nothing, and is left to the decoder."""
_FILL = re.compile(rb"\xff*")
_BARE = frozenset([0x01, *range(0xD0, 0xD8)])
"""JPEG markers without a length: TEM and RST0 to RST7."""
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG start-of-frame markers: SOF0 to SOF15 without DHT, JPG and DAC."""


@dataclass(frozen=True)
class Head:
    """What the first bytes announce."""

    format: str
    """One of ``image.FORMATS``, a foreign format's name, or '' for no image."""
    width: int = 0
    """px; 0 where the header does not say it, or says nonsense (the decoder will judge)."""
    height: int = 0
    """px"""


class _Short(Exception):
    """The header goes on beyond the bytes at hand."""


def read_head(data: bytes, *, last: bool = False) -> Head | None:
    """What ``data``, the beginning of an image, announces; None while more of it is needed.

    Args:
        data: the first bytes, however few.
        last: no more will come; the answer is then never None.
    """
    kind = detect_format(data)
    if not kind:
        return Head("") if last or len(data) >= SNIFF else None
    if kind not in FORMATS:
        return Head(kind)
    try:
        width, height = _SIZES[kind](data)
    except _Short:
        return Head(kind) if last else None
    return Head(kind, width, height) if width > 0 and height > 0 else Head(kind)


def _number(data: bytes, at: int, length: int, order: Literal["big", "little"]) -> int:
    """``length`` bytes from ``at`` as an unsigned number."""
    if at + length > len(data):
        raise _Short
    return int.from_bytes(data[at : at + length], order)


def _jpeg(data: bytes) -> tuple[int, int]:
    """From marker to marker until a frame starts."""
    at = 2
    for _ in range(_STEPS):
        if _number(data, at, 1, "big") != 0xFF:
            return 0, 0
        marker = _number(data, at + 1, 1, "big")
        if marker == 0xFF:  # fill bytes: the last of them begins the marker
            at = _FILL.match(data, at).end() - 1  # type: ignore[union-attr]  # it matches everywhere
            continue
        if marker in _BARE:  # it stands alone
            at += 2
            continue
        if marker in (0x00, 0xD8, 0xD9, 0xDA):  # stuffing, a second start, the end, or a scan before any frame
            return 0, 0
        length = _number(data, at + 2, 2, "big")
        if length < 2:
            return 0, 0
        if marker in _FRAMES:
            return _number(data, at + 7, 2, "big"), _number(data, at + 5, 2, "big")
        at += 2 + length
    return 0, 0


def _png(data: bytes) -> tuple[int, int]:
    if _number(data, 8, 4, "big") != 13 or (len(data) >= 16 and data[12:16] != b"IHDR"):
        return 0, 0
    width, height = _number(data, 16, 4, "big"), _number(data, 20, 4, "big")
    return (width, height) if max(width, height) < 2**31 else (0, 0)


def _gif(data: bytes) -> tuple[int, int]:
    """The screen, or the first picture on it where that reaches further, as decoders have it."""
    width, height, flags = _number(data, 6, 2, "little"), _number(data, 8, 2, "little"), _number(data, 10, 1, "little")
    at, block = 13 + (3 << (flags & 7) + 1 if flags & 0x80 else 0), 0x21
    inside = False
    for _ in range(_STEPS):
        block = _number(data, at, 1, "little")
        if inside:  # an extension: sub-blocks, each behind its size, until an empty one
            inside, at = block > 0, at + 1 + block
        elif block == 0x21:
            inside, at = True, at + 2
        else:
            break
    if inside or block != 0x2C:
        return 0, 0
    left, top, wide, high = (_number(data, at + step, 2, "little") for step in (1, 3, 5, 7))
    return max(width, left + wide), max(height, top + high)


def _webp(data: bytes) -> tuple[int, int]:
    if len(data) < 16:
        raise _Short
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
