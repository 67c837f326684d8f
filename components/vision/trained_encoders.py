"""Encoders that are trained with a captioner or a dual encoder: whole, or their last blocks over cached input."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from components.models.encoders import ImageEncoder, LastBlocks
from components.vision.folding import fold_batch_norms
from components.vision.image_encoders import CLASSIFIERS, PACKAGED, encoder_kind_of, load_encoder


def trainable_encoder(encoder: str, weights: Path | None = None, side: int = 0) -> ImageEncoder:
    """Return a trainable encoder in training mode, initialised from a file, packaged weights, or randomly.

    The unused classification head is frozen, because distributed training waits for every trainable parameter.

    Raises:
        HearsightError: as :func:`load_encoder`.
    """
    encoder_kind_of(encoder, side)
    made = load_encoder(encoder, weights, side) if weights or encoder in PACKAGED else ImageEncoder(encoder, side=side)
    for name, parameter in made.network.named_parameters():
        parameter.requires_grad_(not name.startswith(CLASSIFIERS))
    return made.train()


def captioner_encoder(about: Mapping[str, Any], weights: Path | None = None) -> nn.Module | None:
    """Return what a captioner trains of its encoder, with its first weights: all, its last blocks, or nothing.

    Args:
        about: name, side, ``trained`` and ``trained_blocks`` as in ``prepared.json`` and a model's ``config.json``.
        weights: of an encoder that no package holds.

    Raises:
        HearsightError: as :func:`load_encoder`.
    """
    if about.get("trained"):
        return trainable_encoder(about["name"], weights, about["side"])
    if not about.get("trained_blocks"):
        return None
    loaded = load_encoder(about["name"], weights, about["side"])
    fold_batch_norms(loaded.network)
    return LastBlocks(loaded, about["trained_blocks"]).requires_grad_(True).train()


class MeanVectors:
    """The vector of a whole image by a pretrained encoder, also where its last blocks are trained and only their input is kept.

    Args:
        about: as for :func:`captioner_encoder`, of a frozen encoder.
    """

    def __init__(self, about: Mapping[str, Any]) -> None:
        blocks = captioner_encoder(about)
        self._blocks: Any = blocks.eval() if blocks is not None else None

    @property
    def reads_cells(self) -> bool:
        """Whether it needs the cells' vectors besides the first."""
        return self._blocks is not None

    @torch.no_grad()
    def __call__(self, vectors: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return F numbers from a view's (1 + cells) × C vectors, or from its cells alone if :attr:`reads_cells`."""
        if self._blocks is None:
            return vectors[0]
        cells = vectors[-self._blocks.grid[0] * self._blocks.grid[1] :]
        mean: NDArray[np.floating] = self._blocks.encode(torch.from_numpy(np.asarray(cells, np.float32))[None])[0, 0].numpy()
        return mean
