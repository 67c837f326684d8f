"""Checkpoints that are whole or not there, written at each epoch's end and, if asked, every so many steps."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Checkpoint
from pytorch_lightning.plugins.io import TorchCheckpointIO

from components.core.errors import HearsightError
from components.core.files import disk_error, fsync_folder

CHECKPOINT = "last.ckpt"


class AtomicCheckpoints(TorchCheckpointIO):
    """How Lightning stores: the checkpoint before stays whole until the new one is."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None) -> None:
        """Write beside, sync, rename; raises HearsightError when the disk is full."""
        target = Path(path)
        temporary = temporary_path(target)
        buffer = io.BytesIO()
        torch.save(checkpoint, buffer)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("wb") as handle:
                handle.write(buffer.getbuffer())
                handle.flush()
                os.fsync(handle.fileno())
            temporary.replace(target)
            fsync_folder(target.parent)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise disk_error(error, target) from error


class Saving(Checkpoint):
    """Saves when an epoch is over and judged (Lightning calls ``Checkpoint`` callbacks after the module's own hook),
    and every ``steps`` steps between.
    """

    def __init__(self, path: Path, steps: int) -> None:
        self.path, self.steps = path, steps

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Save inside an epoch; its last step is saved with the epoch's judgement."""
        if self.steps and (batch_idx + 1) % self.steps == 0 and batch_idx + 1 < trainer.num_training_batches:
            trainer.save_checkpoint(self.path)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Save model, optimiser, schedule, history and best weights."""
        trainer.save_checkpoint(self.path)


def temporary_path(path: Path) -> Path:
    """Where a checkpoint is while it is being written."""
    return path.with_name(f"{path.name}.tmp")


def read_checkpoint(path: Path) -> dict[str, Any] | None:
    """The checkpoint at ``path``, None when there is none; a half written one is another's to finish, or to be written over.

    Raises:
        HearsightError: the file is damaged.
    """
    if not path.exists():
        return None
    try:
        found: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        found["recipe"], found["state_dict"]
    except Exception as error:  # torch tells of a damaged file by a dozen kinds of errors
        what = f"is not a whole checkpoint ({type(error).__name__})"
        raise HearsightError(what, where=path, hint="remove it and run again: training begins anew") from error
    return found


def check_identity(path: Path, found: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Raise HearsightError when a checkpoint is of another vocabulary, network, settings, … than what is to be trained."""
    for name in wanted:
        if found.get(name) != wanted[name]:
            what = f"is a checkpoint of another {name} ({str(found.get(name))[:16]}, not {wanted[name][:16]})"
            raise HearsightError(what, where=path, hint="remove it and run again: training begins anew")
