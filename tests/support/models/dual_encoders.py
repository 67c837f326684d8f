"""Small dual encoders for tests, and the hand formulas of their sizes."""

from __future__ import annotations

from typing import Any

import torch

from components.models.dual_encoder import DualEncoder, DualEncoderConfig

TINY: dict[str, Any] = {"coefficients": 6, "image_features": 8, "channels": 10, "embedding": 4, "layers": 2}
INCEPTION = 54_306_464
"""Parameters of Inception-ResNet-v2 without a head (research/models.md)."""


def tiny(**changed: Any) -> DualEncoder:
    """A light dual encoder in eval mode, the same for the same settings."""
    torch.manual_seed(0)
    return DualEncoder(DualEncoderConfig(**{**TINY, **changed})).eval()


def size(module: torch.nn.Module) -> int:
    """Parameters."""
    return sum(parameter.numel() for parameter in module.parameters())


class Flat(torch.nn.Module):
    """A stand-in for EfficientNet-lite0's shapes: 32 × 32 px to a cell of 1280."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 1280, 32, stride=32)

    def extract_features(self, pixels: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.relu(self.conv(pixels))
