"""A tiny dual encoder on a small spoken set, and what is killed inside an epoch."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import torch

from components.models.contrastive import LossSettings
from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.retrieval.inputs import Coefficients
from components.retrieval.items import Batch, PairItems
from components.retrieval.pairs import read_pairs
from components.retrieval.recipe import DualEncoderTraining
from components.training.fit import fit
from components.training.recipe import reseed
from tests.support.retrieval.world import FEATURES, spoken_set

OPTIMISATION: dict[str, Any] = {
    "epochs": 4, "batch": 4, "optimiser": "adam", "learning_rate": 0.01, "warm_up_steps": 2, "decay_per_1000": 0.5,
    "weight_decay": 4e-5, "clip_gradient": 1.0, "ema": 0.5,
}  # fmt: skip
FRAMES = 16


def recipe_on(folder: Path, held: float = 100, **changed: Any) -> tuple[DualEncoderTraining, PairItems]:
    """A recipe over the set in ``folder``, and its training items."""
    one = spoken_set(folder)
    items = {}
    for split in ("train", "validation"):
        pairs = read_pairs([one], split, ["image"])
        common: dict[str, Any] = {"seed": 0, "frames": FRAMES, "side": 0, "training": split == "train"}
        items[split] = PairItems(pairs, Coefficients(pairs, held), np.arange(len(pairs)), **common)
    reseed(0, "dual_encoder", "weights")
    network = DualEncoder(DualEncoderConfig(image_features=FEATURES, channels=8, embedding=4, layers=2, dropout=0.2, scale=8.0))
    mean, deviation = items["train"].speech_input.statistics(items["train"].rows, 0)
    network.speech.mean.copy_(mean)
    network.speech.deviation.copy_(deviation)
    recipe = DualEncoderTraining(
        network, OPTIMISATION, 0, loss=LossSettings(), masks=(2, 3), training=items["train"], validation=items["validation"],
        **changed,
    )  # fmt: skip
    return recipe, items["train"]


def train_and_die(world: Path, folder: Path, epoch: int, step: int) -> None:
    """Train and be killed at ``step`` of ``epoch``, as by a lack of memory."""
    torch.set_num_threads(1)
    recipe, items = recipe_on(world)
    taken = recipe.training_step

    def deadly(batch: Batch, batch_idx: int) -> torch.Tensor:
        if (recipe.current_epoch, batch_idx) == (epoch, step):
            os.kill(os.getpid(), signal.SIGKILL)
        return taken(batch, batch_idx)

    recipe.training_step = deadly  # type: ignore[method-assign]
    fit(recipe, items, folder)
