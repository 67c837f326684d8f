"""Settings of the sources of knowledge for the stage's tests."""

from __future__ import annotations

from typing import Any


def sources(*order: str, url: str = "http://127.0.0.1:9/nothing", index: str = "", **changed: Any) -> dict[str, Any]:
    """``knowledge`` and ``knowledge_settings``: the embedded source alone unless others are named."""
    settings = {
        "index": index, "google": url, "timeout": 2.0, "retries": 0, "backoff": 0.0, "connections": 2,
    }  # fmt: skip
    return {"knowledge": list(order) or ["embedded"], "knowledge_settings": settings | changed}
