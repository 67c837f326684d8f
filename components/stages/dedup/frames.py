"""The picture inside a frame: what a border, the bars of a screen, or a page surround.

A row or column of a frame has one colour in most places, text and symbols included; one of a photograph has not. The content is
where the rows and columns are least of one colour, so a picture loses its even sky too, in a frame and without one alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, as shares of the width and of the height."""
SIDE = 256
"""Side in pixels at which frames are searched: text stays thinner than the space around it."""
NEAR = 5
"""Levels of 255 by which pixels of one colour differ at most."""
EVEN = 0.6
"""Share of a row in one colour from which it speaks for a frame."""
SMALLEST = 0.2
"""Smallest side of a content, as a share of the picture's."""
WHOLE = 0.85
"""Share of the area from which a content is as good as the whole picture."""


def content_box(picture: Image.Image) -> Box | None:
    """Return where in an RGB picture its content is, or None if that is the whole or nothing that can be told."""
    size = (min(SIDE, picture.width), min(SIDE, picture.height))
    pixels = np.asarray(picture.resize(size, Image.Resampling.BOX), np.int16)
    top, bottom, left, right = 0, len(pixels), 0, pixels.shape[1]
    for _ in range(2):
        start, end = _least_even(pixels[:, left:right])
        top, bottom = start, end
        if top == bottom:
            return None
        start, end = _least_even(pixels[top:bottom].transpose(1, 0, 2))
        left, right = start, end
        if left == right:
            return None
    across, down = (right - left) / size[0], (bottom - top) / size[1]
    if min(across, down) < SMALLEST or across * down >= WHOLE:
        return None
    return left / size[0], top / size[1], right / size[0], bottom / size[1]


def _least_even(lines: NDArray[np.int16]) -> tuple[int, int]:
    """Return start and end of the adjacent lines whose pixels are least of one colour; equal if all are of one."""
    middle = np.median(lines, axis=1, keepdims=True)
    even = (np.abs(lines - middle).max(-1) <= NEAR).mean(1)
    sums = np.concatenate([[0.0], np.cumsum(EVEN - even)])
    lowest = np.minimum.accumulate(sums)
    end = int(np.argmax(sums - lowest))
    return int(np.argmin(sums[: end + 1])), end
