"""One training run with Lightning: deterministic, checkpointed each epoch, resumed exactly after a kill."""

from __future__ import annotations

import io
import logging
import os
import warnings
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Checkpoint
from pytorch_lightning.plugins.io import TorchCheckpointIO
from torch import Tensor
from torch.utils.data import DataLoader

from components.train.batches import EpochBatches
from components.train.modules import Recipe

CHECKPOINT = "last.ckpt"


class AtomicCheckpoints(TorchCheckpointIO):
    """Checkpoints that are there whole or not at all."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None) -> None:
        """Write beside, sync, rename."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f"{target.name}.tmp")
        buffer = io.BytesIO()
        torch.save(checkpoint, buffer)
        with temporary.open("wb") as handle:
            handle.write(buffer.getbuffer())
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(target)


class EveryEpoch(Checkpoint):
    """Saves when an epoch is over and judged (Lightning calls ``Checkpoint`` callbacks after the module's own hook)."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Save model, optimiser, schedule, history and best weights."""
        trainer.save_checkpoint(self.path)


def fit(recipe: Recipe, items: int, folder: Path) -> None:
    """Train ``recipe`` for its epochs over ``items`` training items, going on from ``folder`` when it holds a checkpoint.

    The same weights come out whether or not the run was interrupted, on one platform and with the locked packages.
    """
    settings = recipe.settings
    quiet()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    loader = DataLoader(
        _Indices(items), batch_sampler=EpochBatches(items, settings["batch"], recipe.seed), num_workers=0, collate_fn=_collate
    )
    checkpoint = folder / CHECKPOINT
    trainer = pl.Trainer(
        accelerator="cpu",
        devices=1,
        max_epochs=settings["epochs"],
        gradient_clip_val=settings["clip_gradient"],
        deterministic=True,
        logger=False,
        enable_checkpointing=True,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
        default_root_dir=folder,
        plugins=[AtomicCheckpoints()],
        callbacks=[EveryEpoch(checkpoint)],
    )
    trainer.fit(recipe, loader, ckpt_path=checkpoint if checkpoint.exists() else None)


class _Indices(torch.utils.data.Dataset[int]):
    """The numbers 0 … n - 1; the recipe holds the data they stand for."""

    def __init__(self, items: int) -> None:
        self.items = items

    def __len__(self) -> int:
        return self.items

    def __getitem__(self, index: int) -> int:
        return index


def _collate(batch: list[int]) -> Tensor:
    return torch.tensor(batch, dtype=torch.long)


def quiet() -> None:
    """Keep Lightning's advice about hardware and workers out of the log."""
    for name in ("pytorch_lightning", "lightning_fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"(pytorch_lightning|lightning_fabric)\..*")
