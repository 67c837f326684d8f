"""Text in images, by PP-OCR (the package ``rapidocr`` has its weights): lines with their confidence.

A line counts if the recogniser is sure of it and it has two letters or digits, since single ones are mostly no text: in 300
photographs of 224 px 11 lines remain, of which 9 are as in the image. Not in scope: whether the text matters.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from components.web.images.opening import read_image

PACKAGE = "rapidocr"
INSTALL = "pip install --editable '.[ocr]'"
LEAST_CONFIDENCE = 0.95
LEAST_CHARACTERS = 2
_LOCK = Lock()
"""One image at a time: the reader is no shared object of threads."""


class TextLine(NamedTuple):
    """A line of text in an image."""

    text: str
    confidence: float
    """0..1, the mean of its characters'."""

    def plain(self) -> dict[str, Any]:
        """Return the line as JSON values."""
        return {"text": self.text, "confidence": round(self.confidence, 4)}


def reader_version() -> str:
    """Return what reads text on this machine, with its version; empty if nothing does."""
    try:
        return f"{PACKAGE} {version(PACKAGE)}"
    except PackageNotFoundError:
        return ""


def read_text_lines(data: bytes) -> tuple[TextLine, ...]:
    """Return the lines in reading order.

    Raises:
        UnreadableImageError: the bytes cannot be decoded completely.
    """
    pixels = np.ascontiguousarray(np.asarray(read_image(data).pixels)[:, :, ::-1])
    with _LOCK:
        found = _reader()(pixels)
    lines = (
        TextLine(" ".join(text.split()), float(score)) for text, score in zip(found.txts or (), found.scores or (), strict=True)
    )
    return tuple(
        line
        for line in lines
        if line.confidence >= LEAST_CONFIDENCE and sum(char.isalnum() for char in line.text) >= LEAST_CHARACTERS
    )


@lru_cache(maxsize=1)
def _reader() -> Any:
    # Imported on use: an optional extra.
    from rapidocr import RapidOCR

    one = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    return RapidOCR(params={"Global.log_level": "error", **one})
