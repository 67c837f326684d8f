"""``python -m benchmarks.reporting``: CPU time of a training step with and without its progress report.

The network is a small perceptron on random numbers, so that the step is short and the report's share of it large. Runs with and
without alternate; the figures are medians of CPU time, which a busy machine changes little.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from pytorch_lightning.callbacks import Checkpoint
from torch import Tensor, nn

from components.training import fit as fitting
from components.training.progress import open_progress, progress_folder
from components.training.recipe import TrainingModule, reseed

STEPS, EPOCHS, BATCH, WIDTH = 200, 2, 32, 256
SETTINGS = {
    "epochs": EPOCHS, "batch": BATCH, "optimiser": "adam", "learning_rate": 0.001, "weight_decay": 0.0, "clip_gradient": 1.0,
    "decay_per_1000": 1.0, "warm_up_steps": 0,
}  # fmt: skip


class Numbers:
    """Random vectors by number."""

    by_epoch = False

    def __init__(self) -> None:
        self.vectors = torch.randn(STEPS * BATCH, WIDTH, generator=torch.Generator().manual_seed(0))

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitems__(self, items: Sequence[int]) -> tuple[Tensor, Tensor]:
        return torch.tensor(items), self.vectors[items]


class Training(TrainingModule):
    """Learns to repeat its input."""

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        items, vectors = batch
        return self.note_loss((self.network(vectors) - vectors).square().mean(), items)

    def judge(self) -> float | None:
        return None


class Silent(Checkpoint):
    """Takes the place of the callback that reports."""

    def __init__(self, *_: Any) -> None: ...


def seconds(root: Path, *, reports: bool) -> float:
    """Return the CPU seconds of a training."""
    torch.set_num_threads(1)
    reseed(0)
    network = nn.Sequential(*(layer for _ in range(3) for layer in (nn.Linear(WIDTH, WIDTH), nn.ReLU())), nn.Linear(WIDTH, WIDTH))
    work = root / ".hearsight" / "work" / "benchmark" / "training"
    progress_folder(root, "benchmark", "training").mkdir(parents=True)
    with (
        patch.object(fitting, "Reporting", fitting.Reporting if reports else Silent),
        open_progress(root, work, "model", "identity") as log,
    ):
        begun = time.process_time()
        fitting.fit(Training(network, SETTINGS, 0), Numbers(), work / "scratch" / "training", log=log)
        return time.process_time() - begun


def main(runs: int) -> None:
    """Print milliseconds of CPU a step with and without the report, and the share of the difference."""
    times: dict[bool, list[float]] = {True: [], False: []}
    for number in range(2 * runs + 1):
        reports = number % 2 == 0
        with tempfile.TemporaryDirectory() as root:
            spent = seconds(Path(root), reports=reports)
        if number:  # the first run warms up
            times[reports].append(spent)
    with_it, without = (1000 * statistics.median(times[reports]) / STEPS / EPOCHS for reports in (True, False))
    print(
        json.dumps({"runs": runs, "with_ms": with_it, "without_ms": without, "overhead_percent": 100 * (with_it / without - 1)})
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
