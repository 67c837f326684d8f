"""Atomic checkpoints, written at each epoch's end and, on request, every given number of steps."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Checkpoint
from pytorch_lightning.plugins.io import TorchCheckpointIO

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.execution.ranks import checkpoint_written

CHECKPOINT = "last.ckpt"
"""The file in a training's folder, whose name is the digest of all that the training depends on."""


class AtomicCheckpoints(TorchCheckpointIO):
    """Lightning's checkpoint storage; the previous checkpoint stays valid until the new one is complete."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None) -> None:
        """Write a temporary file, sync and rename it; raise HearsightError if the disk is full."""
        target = Path(path)
        buffer = io.BytesIO()
        torch.save(checkpoint, buffer)
        publish_bytes(target, buffer.getbuffer(), temporary=temporary_path(target))
        checkpoint_written()


class Saving(Checkpoint):
    """Saves after an epoch's validation (Lightning calls ``Checkpoint`` callbacks after the module's own hook), and every
    ``steps`` steps within the epoch."""

    def __init__(self, path: Path, steps: int) -> None:
        self.path, self.steps = path, steps

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Save inside an epoch; the last step is saved together with the epoch's validation."""
        if self.steps and (batch_idx + 1) % self.steps == 0 and batch_idx + 1 < trainer.num_training_batches:
            trainer.save_checkpoint(self.path)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Save model, optimiser, schedule, history and best weights."""
        trainer.save_checkpoint(self.path)


def temporary_path(path: Path) -> Path:
    """Return the path of a checkpoint while it is being written."""
    return path.with_name(f"{path.name}.tmp")


def read_checkpoint(path: Path) -> dict[str, Any] | None:
    """Return the checkpoint at ``path``, None if there is none; temporary files are ignored.

    Raises:
        HearsightError: the file is damaged.
    """
    if not path.exists():
        return None
    try:
        checkpoint: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        checkpoint["recipe"], checkpoint["state_dict"]
    except Exception as error:  # torch raises many kinds of errors for damaged files
        what = f"is not a whole checkpoint ({type(error).__name__})"
        raise HearsightError(what, where=path, hint="remove it and run again: training starts from the beginning") from error
    return checkpoint
