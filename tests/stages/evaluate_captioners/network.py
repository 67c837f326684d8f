"""A small captioning network that looks up each word by the image's largest feature and the word's position."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from components.models.captioners.interface import CaptionerConfig, CaptionNetwork


class Pointing(CaptionNetwork):
    """The word at place t is the one that the largest of the image's features, turned by t, stands for."""

    def __init__(self, config: CaptionerConfig) -> None:
        super().__init__()
        self.config = config
        self.table = nn.Parameter(torch.zeros(config.longest, config.image_features, config.vocabulary))

    def encode(self, features: Tensor) -> Tensor:
        assert features.shape[1] == 1 or self.config.grid
        return features.mean(1)

    def decode(self, memory: Tensor, words: Tensor) -> Tensor:
        rows = memory.repeat_interleave(len(words) // len(memory), 0)
        return torch.stack([rows @ self.table[place] for place in range(words.shape[1])], dim=1)

    def start(self, memory: Tensor, rows: int) -> dict[str, Any]:
        return {"memory": memory.repeat_interleave(rows, 0), "place": 0}

    def step(self, state: dict[str, Any], words: Tensor) -> Tensor:
        scores = state["memory"] @ self.table[min(state["place"], self.config.longest - 1)]
        state["place"] += 1
        return scores

    def reorder(self, state: dict[str, Any], rows: Tensor) -> None:
        state["memory"] = state["memory"][rows]
