"""A tiny recipe for the tests of training, and what is killed inside an epoch."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import torch

from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.train.modules import DualEncoderRecipe
from components.training.batches import Indices
from components.training.fit import fit
from components.training.recipe import Recipe, reseed

ITEMS = 11
COMMON: dict[str, Any] = {
    "epochs": 4,
    "batch": 4,
    "optimiser": "adam",
    "learning_rate": 0.01,
    "warm_up_steps": 2,
    "decay_per_1000": 0.5,
    "weight_decay": 4e-5,
    "clip_gradient": 1.0,
}


def dual_encoder() -> Recipe:
    """Eleven pictures, each spoken once."""
    source = torch.Generator().manual_seed(2)
    config = DualEncoderConfig(coefficients=6, image_features=6, channels=8, embedding=4, layers=2, dropout=0.2)
    reseed(0, "dual_encoder", "weights")
    settings = {"frames": 10, "loss": "masked_margin_softmax", "margin": 0.001, "margin_factor": 1.002}
    return DualEncoderRecipe(
        DualEncoder(config),
        COMMON | settings | {"mask_coefficients": 2, "mask_frames": 3},
        0,
        features=torch.randn(ITEMS, 3, 6, generator=source).half(),
        clips=[torch.randn(6, 8 + item, generator=source) for item in range(ITEMS)],
        picture=torch.arange(ITEMS),
        group=torch.arange(ITEMS),
        training=torch.arange(8),
        validation=torch.arange(8, ITEMS),
    )


TRAINING = 8
"""Of the items; the others judge."""


def train_and_die(folder: Path, epoch: int, step: int) -> None:
    """Train and be killed at ``step`` of ``epoch``, as by a lack of memory."""
    recipe = dual_encoder()
    taken = recipe.training_step

    def deadly(batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
        if (recipe.current_epoch, batch_idx) == (epoch, step):
            os.kill(os.getpid(), signal.SIGKILL)
        return taken(batch, batch_idx)

    recipe.training_step = deadly  # type: ignore[method-assign]
    fit(recipe, Indices(TRAINING), folder)
