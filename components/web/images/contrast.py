"""Decide whether a perceptual hash says anything of an image; images without contrast are compared by their pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

EXACT = "="
"""Prefix of the digest that stands for the hash of an image without contrast."""
SIDE = 32
"""px of a side at which contrast is measured."""
EVEN = 4
"""Maximum difference of the levels of 255 in an even row or column."""
LEAST_CONTRAST = 2
"""Levels of 255. Compression as JPEG of quality 40 changes more than 6 bits of every third hash below (11 of 2,361 images of the
sample's packages, and 45 without anything uneven), of every 30th above. Of 675 photographs of Flickr8k the least has 7."""


def has_contrast(image: Any) -> bool:
    """Return whether the grey levels of an image without transparency show more than one level and even bars around it.

    At 32×32 px even rows and columns are cut off at the edges until none is left. The rest must differ from its mean by
    ``LEAST_CONTRAST`` levels on average over the whole image. All numbers are integers, so no machine decides otherwise.
    """
    grey = image if image.mode == "L" else image.convert("L")
    levels = grey.resize((SIDE, SIDE), Image.Resampling.BOX).tobytes()
    left, top, right, bottom = 0, 0, SIDE, SIDE
    while left < right and top < bottom:
        if _is_even(levels[SIDE * top + left : SIDE * top + right]):
            top += 1
        elif _is_even(levels[SIDE * (bottom - 1) + left : SIDE * (bottom - 1) + right]):
            bottom -= 1
        elif _is_even(levels[SIDE * top + left : SIDE * bottom : SIDE]):
            left += 1
        elif _is_even(levels[SIDE * top + right - 1 : SIDE * bottom : SIDE]):
            right -= 1
        else:
            break
    rest = np.frombuffer(levels, np.uint8).reshape(SIDE, SIDE)[top:bottom, left:right].astype(np.int32)
    return int(np.abs(rest * rest.size - rest.sum()).sum()) >= LEAST_CONTRAST * SIDE * SIDE * rest.size > 0


def _is_even(levels: bytes) -> bool:
    inner = levels[1:-1] if len(levels) > 2 else levels  # the ends mix with a bar beside the row
    return max(inner) - min(inner) <= EVEN
