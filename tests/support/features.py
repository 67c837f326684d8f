"""The pretrained encoder with a small side."""

from __future__ import annotations

ENCODER = {"name": "efficientnet_lite0", "weights": "", "side": 96, "frozen": True}
