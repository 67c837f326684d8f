"""One training run with Lightning: deterministic, checkpointed, resumed exactly after a kill, on one device or many.

Several devices of one machine are processes forked here. On several machines the Ray engine starts the ranks, whose environment
Lightning reads (docs/cluster.md).
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytorch_lightning as pl
import torch
from pytorch_lightning.plugins.environments import LightningEnvironment, TorchElasticEnvironment
from pytorch_lightning.strategies import DDPStrategy, Strategy

from components.core.errors import HearsightError
from components.core.text_encoding import csv_text
from components.execution.ranks import is_rank, rank_number
from components.training.checkpoints import CHECKPOINT, AtomicCheckpoints, Saving, read_checkpoint, temporary_path
from components.training.failures import explain_failures
from components.training.progress import ProgressLog
from components.training.recipe import TrainingModule
from components.training.reporting import Reporting
from components.training.settings import REFERENCE, Hardware

PRECISIONS: dict[str, Literal["32-true", "bf16-mixed"]] = {"32": "32-true", "bf16": "bf16-mixed"}


def fit(recipe: TrainingModule, data: Any, folder: Path, hardware: Hardware = REFERENCE, log: ProgressLog | None = None) -> None:
    """Train ``recipe`` for its epochs over ``data``, resuming from a checkpoint in ``folder`` if there is one.

    On the reference hardware the weights do not depend on interruptions, on one platform with the locked packages.

    Args:
        data: a dataset with ``__getitems__`` (indices → a batch) and ``by_epoch``.
        log: receives the progress, and names the model on the terminal.

    Raises:
        HearsightError: the loss is not finite, memory is insufficient, a checkpoint is damaged, there
            are fewer items than devices, or several nodes are required and this process is not one of them.
    """
    checkpoint = folder / CHECKPOINT
    if rank_number() == 0:
        temporary_path(checkpoint).unlink(missing_ok=True)
    saved = read_checkpoint(checkpoint)
    if saved is not None:
        _restore(recipe, saved)
    if recipe.finished:
        return
    _check(recipe, data, hardware)
    recipe.data, recipe.hardware = data, hardware
    silence_lightning()
    torch.set_num_threads(hardware.threads)
    kept = f"the checkpoint of epoch {len(recipe.history)} is kept" if saved else "nothing was trained before"
    with explain_failures(recipe.settings["batch"], recipe.name, kept):
        trainer = _trainer(recipe, folder, hardware, log or ProgressLog(recipe.name))
        trainer.fit(recipe, ckpt_path=checkpoint if saved is not None else None)
    if hardware.world > 1 and not is_rank():
        # The forked processes have ended; their result is the checkpoint.
        saved = read_checkpoint(checkpoint)
        assert saved is not None
        _restore(recipe, saved)


def _restore(recipe: TrainingModule, checkpoint: dict[str, Any]) -> None:
    recipe.restore(checkpoint["recipe"])
    recipe.load_state_dict(checkpoint["state_dict"])


def _check(recipe: TrainingModule, data: Any, hardware: Hardware) -> None:
    if len(data) < hardware.world:
        what = f"has {len(data)} training items for {hardware.world} devices"
        raise HearsightError(what, where=recipe.name, hint="lower devices, or train on more")
    if hardware.nodes > 1 and not is_rank():
        raise HearsightError(
            f"is to be trained on {hardware.nodes} nodes, but this process is not one of them",
            where=recipe.name,
            hint="set engine: {kind: ray} in params.yaml (docs/cluster.md), or nodes: 1",
        )


def _trainer(recipe: TrainingModule, folder: Path, hardware: Hardware, log: ProgressLog) -> pl.Trainer:
    on_gpu = hardware.device() == "gpu"
    strategy: str | Strategy = "auto"
    if hardware.world > 1:
        strategy = DDPStrategy(
            start_method="popen" if is_rank() else "fork",
            process_group_backend="nccl" if on_gpu else "gloo",
            # Otherwise DDP orders the gradients anew after the first step of a process. Sums of three or more ranks depend on the
            # order, so a resumed training would differ in the last bits.
            find_unused_parameters=hardware.world > 2 and not on_gpu,
        )
    return pl.Trainer(
        accelerator=hardware.device(),
        devices=hardware.devices,
        num_nodes=hardware.nodes,
        strategy=strategy,
        precision=PRECISIONS[hardware.precision],
        max_epochs=recipe.settings["epochs"],
        gradient_clip_val=recipe.settings["clip_gradient"],
        # Results are bitwise reproducible on the CPU only; a GPU uses its fastest kernels.
        deterministic=not on_gpu,
        benchmark=on_gpu,
        logger=False,
        enable_checkpointing=True,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        limit_val_batches=0,
        use_distributed_sampler=False,
        default_root_dir=folder,
        # Named, since Lightning would take the allocation of a SLURM cluster that Ray runs in for the ranks of this training.
        plugins=[AtomicCheckpoints(), TorchElasticEnvironment() if is_rank() else LightningEnvironment()],
        callbacks=[Reporting(log, len(recipe.data)), Saving(folder / CHECKPOINT, hardware.checkpoint_steps)],
    )


def silence_lightning() -> None:
    """Keep Lightning's advice about hardware and workers out of the log."""
    for name in ("pytorch_lightning", "lightning_fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"(pytorch_lightning|lightning_fabric)\..*")


CAPTIONER = ("epoch", "phase", "loss", "validation", "reward")
"""Columns of a captioner: phase of training, mean training loss, validation metric, mean reward (self-critical phase only)."""
DUAL_ENCODER = ("epoch", "loss", "validation")
"""Columns of a dual encoder: mean training loss, validation metric."""


def history_csv(history: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return CSV with one line per epoch and these columns, with six decimals; missing values are empty."""
    return csv_text(columns, ([_cell(row.get(name, "")) for name in columns] for row in history))


def _cell(value: Any) -> Any:
    return value if isinstance(value, (int, str)) else f"{value:.6f}"
