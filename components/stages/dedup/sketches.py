"""Images and what a frame surrounds in them, as small grey sketches in all turns and mirrorings.

A row or column of a frame has one colour in most places, text and symbols included; one of a photograph has not. The content is
where the rows and columns are least of one colour, so an image loses its even sky too, in a frame and without one alike.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from components.web.images.opening import read_image

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, as shares of the width and of the height."""
SIDE = 256
"""Side in pixels at which frames are searched: text stays thinner than the space around it."""
NEAR = 5
"""Levels of 255 by which pixels of one colour differ at most."""
EVEN = 0.6
"""Share of a row in one colour from which it speaks for a frame."""
SMALLEST = 0.2
"""Smallest side of a content, as a share of the image's."""
WHOLE = 0.85
"""Share of the area from which a content is as good as the whole image."""


def content_box(image: Image.Image) -> Box | None:
    """Return where in an RGB image its content is, or None if that is the whole or nothing that can be told."""
    size = (min(SIDE, image.width), min(SIDE, image.height))
    pixels = np.asarray(image.resize(size, Image.Resampling.BOX), np.int16)
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


SKETCH = 64
"""Side in pixels of a sketch."""
SMALL = 12
"""Side in pixels of the miniature that finds candidates among turned images."""
FLAT = 1e-3
"""Length below which a patch counts as uniform, which matches nothing."""


def flatten(data: bytes) -> Image.Image:
    """Return an image in RGB, a large one reduced; raise UnreadableImageError if it cannot be decoded."""
    return read_image(data, enough=4 * SKETCH).pixels


def cut_content(image: Image.Image) -> Image.Image | None:
    """Return what a frame surrounds in an RGB image (:func:`~components.stages.dedup.sketches.content_box`), or None."""
    box = content_box(image)
    if box is None:
        return None
    sides = (image.width, image.height) * 2
    return image.crop(tuple(round(share * side) for share, side in zip(box, sides, strict=True)))  # type: ignore[arg-type]


def make_sketch(image: Image.Image) -> NDArray[np.uint8]:
    """Return the sketch of an RGB image, its grey levels at 64 × 64 whatever its shape."""
    return np.asarray(image.convert("L").resize((SKETCH, SKETCH), Image.Resampling.BICUBIC))


def all_symmetries(images: NDArray[np.float32], height: int, width: int) -> NDArray[np.float32]:
    """Return images (n, side, side) in the eight symmetries of a square, resized: (n, 8, height · width); upright first."""
    turns = [np.rot90(images, quarter, axes=(1, 2)) for quarter in range(4)]
    both = [view for turn in turns for view in (turn, turn[:, :, ::-1])]
    return np.stack([resized(view, height, width).reshape(len(images), height * width) for view in both], axis=1)


def miniatures(sketches: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return (n, 8, 144): the sketches at 12 × 12 in their eight symmetries, each of mean 0 and length 1; upright first."""
    return unit(all_symmetries(sketches.astype(np.float32), SMALL, SMALL))


def unit(patches: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return patches (..., pixels) with mean 0 and length 1; uniform ones as zeros."""
    centred = patches - patches.mean(-1, keepdims=True)
    lengths = np.sqrt(np.einsum("...i,...i->...", centred, centred))
    centred *= np.where(lengths > FLAT, 1 / np.maximum(lengths, FLAT), 0)[..., None]
    return centred


def resized(grey: NDArray[np.float32], height: int, width: int) -> NDArray[np.float32]:
    """Return images (n, side, side) as (n, height, width)."""
    return _weights(height, grey.shape[1]) @ grey @ _weights(width, grey.shape[2]).T


@lru_cache(maxsize=16)
def _weights(side: int, of: int) -> Any:
    """Return the matrix of a bicubic resize from ``of`` to ``side`` pixels."""
    return np.asarray(Image.fromarray(np.eye(of, dtype=np.float32)).resize((of, side), Image.Resampling.BICUBIC))
