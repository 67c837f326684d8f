"""Google Cloud Vision v1 as an annotator: labels and SafeSearch of an image.

Source: the documented form of ``images:annotate``: up to 16 images per request of up to 10 MB, with separate errors per
image in an answer of status 200. Both features are requested together, since SafeSearch is free with label detection. The
result is Google's answer; ``providers/google_readings.py`` reads it.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from components.google.method import Requester, request_one
from components.web.images.opening import UnreadableImageError, read_image

MOST_LABELS = 20
"""Maximum labels per image (CC §3: 5 to 20)."""
MOST_BYTES = 6_000_000
"""A larger image is resized: in base64 (4 characters for 3 bytes) it would exceed a request."""
SIDE = 1600
"""Longer side of a resized image in px; Google recommends at least 640 × 480."""
KEPT = ("labelAnnotations", "safeSearchAnnotation", "error")


class GoogleVision:
    """``images:annotate`` with LABEL_DETECTION and SAFE_SEARCH_DETECTION."""

    name = "google.vision"
    version = 2
    model = "vision-v1"
    codec = "json"
    service, rpc, most, room = "vision", "batch_annotate_images", 16, 7_100_000

    def __init__(self, asker: Requester) -> None:
        self.asker = asker

    def compute(self, payload: bytes) -> dict[str, Any]:
        """Return Google's answer for one encoded image."""
        return request_one(self.asker, self, payload)

    def ask_many(self, payloads: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Google's answer for each encoded image."""
        return self.asker.ask(self, payloads)

    def item(self, payload: bytes) -> bytes:
        """Return the image, resized if too large; no bytes for an empty or unreadable one."""
        return payload if len(payload) <= MOST_BYTES else _resized(payload)

    def body(self, items: Sequence[bytes]) -> dict[str, Any]:
        """Return the request for some images."""
        features = [{"type_": "LABEL_DETECTION", "max_results": MOST_LABELS}, {"type_": "SAFE_SEARCH_DETECTION"}]
        return {"requests": [{"image": {"content": item}, "features": features} for item in items]}

    def answers(self, answer: dict[str, Any], number: int) -> list[dict[str, Any]] | None:
        """Return the answer to each image, or None where one is missing."""
        kept = [{name: response[name] for name in KEPT if name in response} for response in answer.get("responses", [])]
        # SafeSearch is never empty; labels may be.
        complete = len(kept) == number and all("safeSearchAnnotation" in response or "error" in response for response in kept)
        return kept if complete else None

    def units(self, item: bytes) -> dict[str, int]:
        """Return one unit per feature."""
        return {"label_detection": 1, "safe_search_detection": 1}


def _resized(data: bytes) -> bytes:
    try:
        image = read_image(data, enough=SIDE).pixels
    except UnreadableImageError:
        return b""
    image.thumbnail((SIDE, SIDE))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=90)
    return out.getvalue()
