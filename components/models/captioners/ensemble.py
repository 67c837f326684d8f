"""Several trained captioning networks that write one caption: the mean of their probabilities at each word."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from components.models.captioners.interface import CaptionNetwork


class Ensemble(CaptionNetwork):
    """Networks over one vocabulary as one network, for every kind of decoding; its scores are log-probabilities.

    A memory, and a state, is a list with one of each network.

    Args:
        networks: in eval mode, with equal vocabularies, which the caller compares.

    Raises:
        ValueError: the networks differ in the sizes that a caption or an image depends on.
    """

    def __init__(self, networks: Sequence[CaptionNetwork]) -> None:
        super().__init__()
        self.networks: Any = nn.ModuleList(networks)
        self.config = networks[0].config
        for name in ("vocabulary", "image_features", "grid", "longest"):
            found = [getattr(network.config, name) for network in networks]
            if len(set(found)) > 1:
                raise ValueError(f"the networks of an ensemble differ in {name}: {', '.join(map(str, found))}")
        self.eval()

    def encode(self, features: Tensor) -> list[Any]:
        """Return the memories of B × L × F features, or of B × L × nF where each of n networks has an encoder of its own."""
        parts = features.split(self.config.image_features, dim=2)
        parts = parts * len(self.networks) if len(parts) == 1 else parts
        return [network.encode(part) for network, part in zip(self.networks, parts, strict=True)]

    def decode(self, memory: list[Any], words: Tensor) -> Tensor:
        """Return the log-probabilities of the word after each of ``words``, N × t × V."""
        return _mean([network.decode(part, words) for network, part in zip(self.networks, memory, strict=True)])

    def start(self, memory: list[Any], rows: int) -> list[Any]:
        """Return the states before the first word."""
        return [network.start(part, rows) for network, part in zip(self.networks, memory, strict=True)]

    def step(self, state: list[Any], words: Tensor) -> Tensor:
        """Return the log-probabilities of the word after ``words``, N × V, and advance all states."""
        return _mean([network.step(part, words) for network, part in zip(self.networks, state, strict=True)])

    def reorder(self, state: list[Any], rows: Tensor) -> None:
        """Reorder all states."""
        for network, part in zip(self.networks, state, strict=True):
            network.reorder(part, rows)


def _mean(scores: list[Tensor]) -> Tensor:
    """Return the logarithm of the mean of the probabilities that belong to each network's scores."""
    kind = torch.promote_types(scores[0].dtype, torch.float32)
    logarithms = torch.stack([one.log_softmax(-1, dtype=kind) for one in scores])
    return logarithms.logsumexp(0) - math.log(len(scores))
