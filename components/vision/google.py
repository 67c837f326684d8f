"""Google Cloud Vision v1, as an annotator: labels and SafeSearch of a picture.

Source: the documented form of ``images:annotate``: up to 16 pictures a request of up to 10 MB, an error of its own for
each picture inside an answer of status 200. Both features are asked together, since SafeSearch costs nothing beside
label detection. The result is Google's own answer; ``google_read.py`` reads it.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from components.google.method import Requester, request_one

MOST_LABELS = 20
"""Labels asked for a picture (the paper's pictures have 5 to 20)."""
MOST_BYTES = 6_000_000
"""A larger picture is sent smaller: in base64 (4 characters for 3 bytes) it would not fit a request."""
SIDE = 1600
"""Longer side of a picture sent smaller, in px; Google asks for 640 × 480 at least."""
KEPT = ("labelAnnotations", "safeSearchAnnotation", "error")


class GoogleVision:
    """``images:annotate`` with LABEL_DETECTION and SAFE_SEARCH_DETECTION."""

    name = "google.vision"
    version = 1
    model = "vision-v1"
    codec = "json"
    service, rpc, most, room = "vision", "batch_annotate_images", 16, 7_100_000

    def __init__(self, asker: Requester) -> None:
        self.asker = asker

    def compute(self, payload: bytes) -> dict[str, Any]:
        """Google's answer for one encoded picture."""
        return request_one(self.asker, self, payload)

    def ask_many(self, payloads: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Google's answer for each encoded picture."""
        return self.asker.ask(self, payloads)

    def item(self, payload: bytes) -> bytes:
        """Return the picture; no bytes for one that is empty, or too large and not to be read."""
        return payload if len(payload) <= MOST_BYTES else _smaller(payload)

    def body(self, items: Sequence[bytes]) -> dict[str, Any]:
        """Return the request for some pictures."""
        features = [{"type_": "LABEL_DETECTION", "max_results": MOST_LABELS}, {"type_": "SAFE_SEARCH_DETECTION"}]
        return {"requests": [{"image": {"content": item}, "features": features} for item in items]}

    def answers(self, answer: dict[str, Any], number: int) -> list[dict[str, Any]] | None:
        """Return what is said of each picture."""
        kept = [{name: each[name] for name in KEPT if name in each} for each in answer.get("responses", [])]
        # SafeSearch always has something to say; labels may be none.
        whole = len(kept) == number and all("safeSearchAnnotation" in each or "error" in each for each in kept)
        return kept if whole else None

    def units(self, item: bytes) -> dict[str, int]:
        """One a feature."""
        return {"label_detection": 1, "safe_search_detection": 1}


def _smaller(data: bytes) -> bytes:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as image:
            picture = image.convert("RGB")
    except OSError:
        return b""
    picture.thumbnail((SIDE, SIDE))
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=90)
    return out.getvalue()
