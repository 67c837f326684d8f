"""Limits on the pictures that people send, stricter than those of commands: several people share the memory of one process."""

from __future__ import annotations

import io
import warnings

from PIL import Image

from components.core.errors import HearsightError
from components.vision.picture_files import FORMATS

MOST_PIXELS = 50_000_000
"""Pixels of a picture; a telephone's have up to 50 million, which take 200 MB decoded."""


def limit_picture(data: bytes) -> None:
    """Raise HearsightError for a picture with too many pixels, by its header: nothing is decoded. Other files pass."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                width, height = image.size
    except Image.DecompressionBombError:
        width = height = MOST_PIXELS
    except Exception:  # no picture, or damaged: what reads it says so
        return
    if width * height > MOST_PIXELS:
        raise HearsightError(f"the picture has more than {MOST_PIXELS // 1_000_000} million pixels", hint="make it smaller")
