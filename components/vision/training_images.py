"""Images for trainable encoders: decoded, cropped, distorted and resized anew in each epoch.

CC §5.2: random distortion, and crops of a random ratio of 50 to 100 %. Details are ours: the ratio is of the area, and
brightness, contrast and saturation change by up to a quarter. Images are not mirrored, since they may contain text.
"""

from __future__ import annotations

from random import Random

import numpy as np
from numpy.typing import NDArray
from PIL import ImageEnhance
from PIL.Image import Image, Resampling

from components.core.errors import HearsightError
from components.web.images.opening import UnreadableImageError, read_image

LEAST_AREA = 0.5
DISTORTION = 0.25


def open_image(data: bytes, side: int, where: str = "") -> Image:
    """Return an image in RGB, reduced if much larger than ``side``.

    Raises:
        HearsightError: the bytes cannot be decoded.
    """
    try:
        # The smallest crop still has `side` pixels in each direction.
        return read_image(data, enough=int(side / LEAST_AREA**0.5) + 1).pixels
    except UnreadableImageError as error:
        what = f"cannot be decoded as an image ({error})"
        raise HearsightError(what, where=where, hint="run the preceding stage again") from error


def random_crop(width: int, height: int, source: Random) -> tuple[float, float, float, float]:
    """Return a crop of 50 to 100 % of the area with the image's aspect ratio: left, top, right, bottom in pixels."""
    length = source.uniform(LEAST_AREA, 1.0) ** 0.5
    left, top = (source.uniform(0.0, 1.0 - length) for _ in range(2))
    return left * width, top * height, (left + length) * width, (top + length) * height


def random_view(image: Image, side: int, source: Random) -> NDArray[np.uint8]:
    """Return a random crop, resized, with changed brightness, contrast and saturation: side × side × 3."""
    # Crop and resize in one step; colours are changed on the fewer pixels afterwards.
    small = image.resize((side, side), Resampling.BILINEAR, box=random_crop(*image.size, source), reducing_gap=2.0)
    for enhancer in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
        small = enhancer(small).enhance(source.uniform(1 - DISTORTION, 1 + DISTORTION))
    return np.asarray(small)


def whole_view(image: Image, side: int) -> NDArray[np.uint8]:
    """Return the whole image, resized: side × side × 3."""
    return np.asarray(image.resize((side, side), Resampling.BILINEAR, reducing_gap=2.0))
