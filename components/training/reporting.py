"""Lightning's callback that reports a training while it runs: on the terminal and in the progress file.

It reads losses and gradients and changes neither, so results do not depend on it. The gradient's norm is computed for the steps
that are reported only.
"""

from __future__ import annotations

import fcntl
import math
import sys
import time
from typing import TYPE_CHECKING, Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Checkpoint
from torch.nn.utils import get_total_norm

from components.core.progress import EVERY, duration, print_progress, progress_bar

if TYPE_CHECKING:
    from components.training.progress import ProgressLog
    from components.training.recipe import TrainingModule

LINES = 16
"""Most live lines of a terminal; further models print an epoch's line only."""


class Reporting(Checkpoint):
    """Reports the last step of every epoch, a step every :data:`EVERY` seconds, and every epoch with its validation.

    It is a ``Checkpoint`` because Lightning calls these after the module's own hook, which validates. It must be before the
    callback that saves: an epoch in a checkpoint is then in the progress file too.

    Args:
        items: number of training items.
    """

    def __init__(self, log: ProgressLog, items: int) -> None:
        self._log, self.items = log, items
        self._epoch = -1
        self._batch = 0
        self._due = False
        self._figures: dict[str, float] = {}
        self._bar: Any = None
        self._line: Any = None
        self._first = self._seen = self._counted = self._read = 0
        self._begun = self._reported = self._ended = time.monotonic()

    def on_train_start(self, trainer: pl.Trainer, pl_module: TrainingModule) -> None:  # type: ignore[override]
        """Report that the training begins or continues."""
        if trainer.is_global_zero:
            self._log.start(step=pl_module.first_step + trainer.global_step, phase=pl_module.phase)
            if trainer.global_step:
                print_progress(f"{self._name(pl_module)} continues after step {trainer.global_step}")

    def on_train_batch_start(self, trainer: pl.Trainer, pl_module: TrainingModule, batch: Any, batch_idx: int) -> None:  # type: ignore[override]
        """Begin to measure at an epoch's first step, or at the first after a resume."""
        self._batch = batch_idx
        if trainer.current_epoch != self._epoch:
            self._epoch, self._first = trainer.current_epoch, batch_idx
            self._begun = self._reported = self._ended = time.monotonic()
            self._counted = self._seen = 0
            self._read = len(pl_module.losses)
            if trainer.is_global_zero and sys.stderr.isatty():
                self._show_bar(trainer, pl_module, batch_idx)

    def on_before_optimizer_step(self, trainer: pl.Trainer, pl_module: pl.LightningModule, optimizer: Any) -> None:
        """Measure the gradient, before it is clipped, and the learning rate of a step to report."""
        last = self._batch + 1 == trainer.num_training_batches
        self._due = trainer.is_global_zero and (last or time.monotonic() - self._reported >= EVERY)
        if self._due:
            gradients = [one.grad for one in pl_module.parameters() if one.grad is not None]
            self._figures = {
                "learning_rate": float(optimizer.param_groups[0]["lr"]),
                "gradient_norm": float(get_total_norm(gradients)),
            }

    def on_train_batch_end(
        self,
        trainer: pl.Trainer,
        pl_module: TrainingModule,  # type: ignore[override]
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        """Count the step's items, and report it if it is due."""
        size = pl_module.settings["batch"]
        self._seen += min(size, self.items - batch_idx * size)
        if self._bar is not None:
            self._bar.update()
        if not self._due:
            return
        self._due, self._ended = False, time.monotonic()
        rate = (self._seen - self._counted) / max(self._ended - self._reported, 1e-9)
        losses = pl_module.losses[self._read :]  # on a GPU they are read later, and these are some steps old
        self._read, self._counted, self._reported = len(pl_module.losses), self._seen, self._ended
        figures = {"items_per_second": rate, **self._figures}
        if losses:
            figures["loss"] = math.fsum(losses) / len(losses)
        step = pl_module.first_step + trainer.global_step
        self._log.write("step", step=step, in_epoch=pl_module.first_epoch + trainer.current_epoch, **figures)
        if self._bar is not None:
            self._bar.set_postfix_str(_in_words(figures), refresh=False)
        elif batch_idx + 1 < trainer.num_training_batches:
            position = f"{self._where(pl_module)}, step {batch_idx + 1} of {trainer.num_training_batches}"
            print_progress(f"{position}: {_in_words(figures)}")

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: TrainingModule) -> None:  # type: ignore[override]
        """Report the epoch's means and its validation score."""
        if not trainer.is_global_zero:
            return
        if self._bar is not None:
            self._bar.close()
            self._line.close()
            self._bar = None
        record = pl_module.history[-1]
        self._log.write("epoch", step=pl_module.steps, **record)
        done, epochs = trainer.current_epoch + 1, pl_module.settings["epochs"]
        figures = {name: value for name, value in record.items() if name not in ("epoch", "phase")}
        figures["items_per_second"] = self._seen / max(self._ended - self._begun, 1e-9)
        best = f"best validation {pl_module.best['validation']:.4g}"
        steps = max(1, trainer.num_training_batches - self._first)
        left = (time.monotonic() - self._begun) / steps * trainer.num_training_batches * (epochs - done)
        print_progress(f"{self._where(pl_module)}: {_in_words(figures)}, {best}, about {duration(left)} left")

    def _where(self, module: TrainingModule) -> str:
        return f"{self._name(module)}, epoch {self._epoch + 1} of {module.settings['epochs']}"

    def _name(self, module: TrainingModule) -> str:
        return f"{self._log.model} {module.phase}".rstrip()

    def _show_bar(self, trainer: pl.Trainer, module: TrainingModule, done: int) -> None:
        """Show a bar below the stage's own, on a line of the terminal that no other model of the stage uses."""
        if self._log.work is None:
            return
        total: Any = trainer.num_training_batches
        for number in range(1, LINES + 1):
            # A lock, because the models' processes do not know each other and may be killed.
            line = (self._log.work / f".line-{number}").open("a")
            try:
                fcntl.flock(line, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                line.close()
                continue
            self._line = line
            self._bar = progress_bar(total, self._where(module), initial=done, position=number, leave=False)
            return


def _in_words(figures: dict[str, Any]) -> str:
    """Return figures as ``loss 2.31, validation 0.402``."""
    names = {"items_per_second": "items/s", "learning_rate": "learning rate", "gradient_norm": "gradient norm"}
    return ", ".join(
        f"{value:.4g} {names[name]}" if name == "items_per_second" else f"{names.get(name, name)} {value:.4g}"
        for name, value in figures.items()
    )
