"""Settings of the evaluation in tests."""

from __future__ import annotations

from typing import Any

EVALUATE: dict[str, Any] = {
    "split": "test", "crops": ["centre", "whole"], "depths": [1, 5, 10], "matching": ["image", "text", "group"],
    "resamples": 50, "seed": 1,
}  # fmt: skip
