"""A tiny training whose progress the project's tracker reads. Tests can pause or kill it inside an epoch."""

from __future__ import annotations

import os
import signal
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch

from components.retrieval.items import Batch
from components.training import reporting
from components.training.fit import fit
from components.training.progress import open_progress, progress_folder
from tests.support import until
from tests.support.retrieval.training import recipe_on

STAGE, MODEL, IDENTITY = "pretrain_retrieval", "mms-4-0", "0123456789abcdef"
STEPS_OF_EPOCHS = [2, 4, 6, 8]
"""The tiny set has two steps an epoch, and four epochs."""


def work_of(root: Path) -> Path:
    return root / ".hearsight" / "work" / "english" / STAGE


def progress_file(root: Path) -> Path:
    return progress_folder(root, "english", STAGE) / f"{MODEL}-{IDENTITY[:12]}.jsonl"


def train(root: Path, *, every: float = 0.0, kill_at: tuple[int, int] | None = None) -> None:
    """Train to the end, resuming; at a given epoch and step wait for the file ``kill`` in ``root`` and be killed."""
    torch.set_num_threads(1)
    reporting.EVERY = every
    recipe, items = recipe_on(root / "world")
    taken = recipe.training_step

    def deadly(batch: Batch, batch_idx: int) -> torch.Tensor:
        if (recipe.current_epoch, batch_idx) == kill_at:
            until((root / "kill").exists)
            os.kill(os.getpid(), signal.SIGKILL)
        return taken(batch, batch_idx)

    recipe.training_step = deadly  # type: ignore[method-assign]
    with open_progress(root, work_of(root), MODEL, IDENTITY) as log:
        fit(recipe, items, work_of(root) / "scratch" / "training", log=log)


def start_training(root: Path, epoch: int, step: int) -> BaseProcess:
    """Train in a process of its own, which holds at ``step`` of ``epoch`` until it is killed."""
    process = get_context("fork").Process(target=train, args=(root,), kwargs={"kill_at": (epoch, step)})
    process.start()
    return process
