"""Google Cloud Vision v1 over REST, as an annotator: labels and SafeSearch of a picture.

Source: the documented form of ``images:annotate``: up to 16 pictures a request of up to 10 MB, an error of its own for
each picture inside an answer of status 200. Both features are asked together, since SafeSearch costs nothing beside
label detection. The result is Google's own answer; ``google_read.py`` reads it.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from components.google.method import Asker, alone

MOST_LABELS = 20
"""Labels asked for a picture (the paper's pictures have 5 to 20)."""
MOST_BYTES = 6_000_000
"""A larger picture is sent smaller: in base64 it would not fit a request."""
SIDE = 1600
"""Longer side of a picture sent smaller, in px; Google asks for 640 × 480 at least."""
KEPT = ("labelAnnotations", "safeSearchAnnotation", "error")


class GoogleVision:
    """``images:annotate`` with LABEL_DETECTION and SAFE_SEARCH_DETECTION."""

    name = "google.vision"
    version = 1
    model = "vision-v1"
    codec = "json"
    service, path, most, room = "vision", "/v1/images:annotate", 16, 9_500_000

    def __init__(self, asker: Asker) -> None:
        self.asker = asker

    def compute(self, payload: bytes) -> dict[str, Any]:
        """Google's answer for one encoded picture."""
        return alone(self.asker, self, payload)

    def ask_many(self, payloads: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Google's answer for each encoded picture."""
        return self.asker.ask(self, payloads)

    def item(self, payload: bytes) -> str | None:
        """The picture in base64; None for one that is empty, or too large and not to be read."""
        data = payload if len(payload) <= MOST_BYTES else _smaller(payload)
        return base64.b64encode(data).decode("ascii") if data else None

    def body(self, items: Sequence[str]) -> dict[str, Any]:
        """The request for some pictures."""
        features = [{"type": "LABEL_DETECTION", "maxResults": MOST_LABELS}, {"type": "SAFE_SEARCH_DETECTION"}]
        return {"requests": [{"image": {"content": item}, "features": features} for item in items]}

    def answers(self, answer: dict[str, Any], number: int) -> list[dict[str, Any]] | None:
        """What is said of each picture."""
        found = answer.get("responses")
        if not isinstance(found, list) or len(found) != number or not all(isinstance(each, dict) for each in found):
            return None
        kept = [{name: each[name] for name in KEPT if name in each} for each in found]
        # SafeSearch always has something to say; labels may be none.
        return kept if all("safeSearchAnnotation" in each or "error" in each for each in kept) else None

    def units(self, item: str) -> dict[str, int]:
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
