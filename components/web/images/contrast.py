"""Decide whether a perceptual hash says anything of an image; images without contrast are compared by their pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

EXACT = "="
"""Prefix of the digest that stands for the hash of an image without contrast."""
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
    rest = np.asarray(grey.resize((32, 32), Image.Resampling.BOX), np.int32)
    before = None
    while rest.shape != before and rest.size:
        before = rest.shape
        rest = _cut_even_rows(_cut_even_rows(rest).T).T
    return int(np.abs(rest * rest.size - rest.sum()).sum()) >= LEAST_CONTRAST * 32 * 32 * rest.size > 0


def _cut_even_rows(levels: Any) -> Any:
    """Return what is left without the even rows at both edges."""
    inner = levels[:, 1:-1] if levels.shape[1] > 2 else levels  # the ends mix with a bar beside the row
    uneven = np.flatnonzero(inner.max(1) - inner.min(1) > EVEN) if levels.size else np.empty(0, np.int64)
    return levels[uneven[0] : uneven[-1] + 1] if len(uneven) else levels[:0]
