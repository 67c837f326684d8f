"""Encoders that are trained with a captioner or a dual encoder: whole, or their last blocks over cached input."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
