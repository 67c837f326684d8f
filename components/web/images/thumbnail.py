"""A decoded picture made small, over white, in bands: what is converted before it is reduced is never a whole large picture.

A picture of 89 Mpx takes 340 MiB decoded; to convert it whole takes as much again, once or twice. Equal bits come out whatever
the bands: colours are converted px by px, and bands end where the squares end that are averaged.
"""

from __future__ import annotations

from typing import Any

ENOUGH = 96
"""px of the smaller side that hash and thumbnail are made from, at least: three times what the hash looks at. Of 492 sample JPEGs
482 keep their hash to 4 bits of 64; those that move further are checkerboards and gratings, whose low frequencies are noise."""
_BAND = 1 << 20
"""px of a band, about."""
_REDUCIBLE = ("L", "RGB", "CMYK")
"""Modes that are averaged as they are."""


def shrink(picture: Any) -> Any:
    """A decoded picture in grey or colour, over white, its smaller side ``ENOUGH`` to twice that where it was larger."""
    from PIL import Image

    clear = picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info
    factor = max(1, min(picture.size) // ENOUGH)
    rows = max(1, _BAND // (picture.width * factor)) * factor
    if (picture.mode in _REDUCIBLE and not clear) or rows >= picture.height:
        return _part(picture, factor, clear=clear)
    small = None
    for top in range(0, picture.height, rows):
        part = _part(picture.crop((0, top, picture.width, min(top + rows, picture.height))), factor, clear=clear)
        if small is None:
            small = Image.new(part.mode, (part.width, -(-picture.height // factor)))
        small.paste(part, (0, top // factor))
    return small


def _part(picture: Any, factor: int, *, clear: bool) -> Any:
    """A picture, or a band of one, made small."""
    from PIL import Image

    if clear:
        picture = picture if picture.mode == "RGBA" else picture.convert("RGBA")
    elif picture.mode not in _REDUCIBLE:
        # Palettes and 1-bit pictures cannot be averaged, and deeper greys have no place in a thumbnail.
        picture = picture.convert("RGB" if picture.mode in ("P", "YCbCr", "LAB", "HSV") else "L")
    if factor > 1:
        picture = picture.reduce(factor)
    if clear:
        white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
        picture = Image.alpha_composite(white, picture)
    return picture if picture.mode in ("L", "RGB") else picture.convert("RGB")
