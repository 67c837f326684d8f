"""Reduce a decoded picture, over white, in bands, so that a large picture is never converted as a whole.

A picture of 89 Mpx takes 340 MiB decoded; converting it whole takes as much again, once or twice. The result does not depend on
the
bands: colours are converted per px, and bands end at the borders of averaged squares.
"""

from __future__ import annotations

from typing import Any

from PIL import Image

REDUCED_SIDE = 96
"""Minimum px of the smaller side for hash and thumbnail: three times what the hash uses. Of 492 sample JPEGs 482 keep their hash
to 4 bits of 64; the others are checkerboards and gratings, whose low frequencies are noise."""
_BAND = 1 << 20
"""Approximate px of a band."""
_REDUCIBLE = ("L", "RGB", "CMYK")
"""Modes that are averaged without conversion."""


def shrink(picture: Any) -> Any:
    """Return a decoded picture in grey or colour, over white, with a smaller side of ``REDUCED_SIDE`` to twice that if it was
    larger."""
    transparent = picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info
    factor = max(1, min(picture.size) // REDUCED_SIDE)
    band_rows = max(1, _BAND // (picture.width * factor)) * factor
    if (picture.mode in _REDUCIBLE and not transparent) or band_rows >= picture.height:
        return _reduce(picture, factor, transparent=transparent)
    small = None
    for top in range(0, picture.height, band_rows):
        part = _reduce(
            picture.crop((0, top, picture.width, min(top + band_rows, picture.height))), factor, transparent=transparent
        )
        if small is None:
            small = Image.new(part.mode, (part.width, -(-picture.height // factor)))
        small.paste(part, (0, top // factor))
    return small


def _reduce(picture: Any, factor: int, *, transparent: bool) -> Any:
    """Return a picture, or a band of one, reduced."""
    if transparent:
        picture = picture if picture.mode == "RGBA" else picture.convert("RGBA")
    elif picture.mode not in _REDUCIBLE:
        # Palettes and 1-bit pictures cannot be averaged; deeper greys do not fit a thumbnail.
        picture = picture.convert("RGB" if picture.mode in ("P", "YCbCr", "LAB", "HSV") else "L")
    if factor > 1:
        picture = picture.reduce(factor)
    if transparent:
        white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
        picture = Image.alpha_composite(white, picture)
    return picture if picture.mode in ("L", "RGB") else picture.convert("RGB")
