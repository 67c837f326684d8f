"""Small captioners of every network but the transformers, with random images and words for them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from components.models.captioners import NETWORKS, build
from components.models.captioners.interface import CaptionerConfig, CaptionNetwork
from components.models.vocabulary import END, START

NAMES = tuple(name for name in NETWORKS if not name.startswith("t2t"))
GRID = 6


def tiny(name: str, **changed: Any) -> CaptionNetwork:
    """Return a small network in eval mode."""
    sizes = {"vocabulary": 14, "image_features": 10, "width": 16, "heads": 4, "layers": 2, "dropout": 0.1, "longest": 5}
    torch.manual_seed(0)
    return build(CaptionerConfig(name, **(sizes | changed))).eval()


def images(name: str, count: int, width: int = 10) -> Tensor:
    """Return features of one vector an image, or of a grid."""
    return torch.randn(count, 1 if name.endswith("1x1") else GRID, width)


def word_rows(rows: int, length: int) -> Tensor:
    """Return random words after START, rows × length."""
    words = torch.randint(END, 14, (rows, length))
    words[:, 0] = START
    return words
