"""The base of every recipe, a Lightning module: optimiser, seeding, moving average, history, and the best epoch's weights.

All randomness of a step (dropout, masks, crops) is seeded by (job's seed, epoch, step). A resumed run therefore repeats the same
steps exactly, needs no saved generator state, and is independent of other draws from torch's generator (such as a new loader's).

With ``ema``, a copy of the network holds the moving average of its weights (Polyak and Juditsky 1992), which is part of the
module and so of checkpoints. The update is torch's. Lightning's callback copies the whole recipe, with its data, and exchanges
the weights around a validation loop, which recipes do not have.
"""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Callable
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import get_ema_multi_avg_fn
from torch.utils.data import DataLoader

from components.core.errors import HearsightError
from components.execution.process import die_with_parent
from components.training.batches import EpochBatches, loader
from components.training.settings import REFERENCE

OPTIMISERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "adagrad": torch.optim.Adagrad}
READ_EVERY = 50
"""Steps between reads of the losses on a GPU, since each read synchronises. On the CPU every step is read."""
NAMED = 8
"""Maximum number of records named in an error."""


def seed_of(*parts: str | int) -> int:
    """Return a torch seed derived from ``parts``."""
    return int.from_bytes(hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()[:8], "big") >> 1


def reseed(*parts: str | int) -> None:
    """Seed the generators of the processor and of the GPUs in use from ``parts``.

    ``torch.manual_seed`` also formats a stack trace for each kind of device that is not in use: .3 ms or more a step.
    """
    seed = seed_of(*parts)
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)


class TrainingModule(pl.LightningModule):
    """Base of all recipes.

    Args:
        settings: of :class:`components.training.settings.Optimisation`, as plain values, and the recipe's own.
        seed: of all draws.
        name: of the run, for errors.
    """

    def __init__(
        self,
        network: nn.Module,
        settings: dict[str, Any],
        seed: int,
        name: str = "training",
    ) -> None:
        super().__init__()
        self.network, self.settings, self.seed, self.name = network, settings, seed, name
        self.average: Any = copy.deepcopy(network).requires_grad_(requires_grad=False) if settings["ema"] else None
        """The network with averaged weights; None without ``ema``."""
        self.history: list[dict[str, Any]] = []
        self.best: dict[str, Any] = {}
        self.steps = 0
        """Optimiser steps so far."""
        self.first_epoch, self.first_step = 0, 0
        """Where the epochs and steps of an earlier phase end."""
        self.hardware = REFERENCE
        self.data: Any = None
        self._losses: list[float] = []
        self._noted: dict[str, list[float]] = {}
        self._unread: list[tuple[int, Tensor, Tensor]] = []
        self._resumed: tuple[int, int] = (-1, 0)

    @property
    def phase(self) -> str:
        """Name of this part of the training in the history; empty if there is only one."""
        return ""

    @property
    def losses(self) -> list[float]:
        """The losses of the epoch's steps that have been read."""
        return self._losses

    def judge(self) -> float | None:
        """Return the selection metric on the validation split, higher is better; None if that split is empty."""
        raise NotImplementedError

    def record_keys(self, items: Tensor) -> list[str]:
        """Return the keys of a batch's records, for errors."""
        return [str(item) for item in items.tolist()]

    def setup(self, stage: str) -> None:
        """Make processes that were forked for a device end with their parent."""
        if self.trainer.strategy.launcher is not None and self.trainer.strategy.launcher.is_interactive_compatible:
            die_with_parent()

    def on_train_start(self) -> None:
        """Require that all ranks resume from the same checkpoint; on a network file system one may see an older one."""
        if self.trainer.world_size > 1:
            here = torch.tensor([*self._resumed, len(self.history)], dtype=torch.float64, device="cpu")
            places = self.trainer.strategy.all_gather(here.to(self.device))
            if not bool((places == places[0]).all()):
                raise RuntimeError(f"{self.name}: the ranks resume from different checkpoints: {places.tolist()}")

    def train_dataloader(self) -> DataLoader[Any]:
        """Return the loader of this rank's part of every batch, with ``hardware.workers`` processes."""
        data: Any = self.data
        batches = EpochBatches(
            len(data),
            self.settings["batch"],
            self.seed,
            rank=self.trainer.global_rank,
            world=self.trainer.world_size,
            by_epoch=data.by_epoch,
        )
        batches.resume(*self._resumed)
        return loader(data, batches, self.hardware)

    def configure_optimizers(self) -> Any:
        """Return Adam with L2 decay (CSC §4.1) or Adagrad (CC §5.2), with an exponentially decaying learning rate."""
        settings = self.settings
        kind = OPTIMISERS[settings["optimiser"]]
        optimiser = kind(self.parameter_groups(), lr=settings["learning_rate"], weight_decay=settings["weight_decay"])
        decay, warm = settings["decay_per_1000"], settings["warm_up_steps"]

        def factor(step: int) -> float:
            return float(min(1.0, (step + 1) / (warm + 1)) * decay ** (step / 1000))

        schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, factor)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return what the optimiser trains, in groups that may have a learning rate ``lr`` of their own."""
        return [{"params": [parameter for parameter in self.parameters() if parameter.requires_grad]}]

    def optimizer_step(
        self, epoch: int, batch_idx: int, optimizer: Any, optimizer_closure: Callable[[], Any] | None = None
    ) -> None:
        """Take the step, then move the average towards the new weights; buffers are copied.

        The decay begins at .1 and rises to ``ema``, so that the first weights count little in a short training.
        """
        steps = self.global_step
        super().optimizer_step(epoch, batch_idx, optimizer, optimizer_closure)
        if self.average is not None:
            decay = min(self.settings["ema"], (1 + steps) / (10 + steps))
            averages, weights = (list(network.parameters()) for network in (self.average, self.network))
            get_ema_multi_avg_fn(decay)(averages, weights, steps)
            for mine, other in zip(self.average.buffers(), self.network.buffers(), strict=True):
                mine.copy_(other)

    def on_train_epoch_start(self) -> None:
        """Reset the epoch's means."""
        self._losses, self._noted = [], {}

    def on_train_batch_start(self, batch: Any, batch_idx: int) -> None:
        """Seed the step by seed, epoch, step and rank."""
        rank = [self.global_rank] if self.global_rank else []
        reseed(self.seed, self.first_epoch + self.current_epoch, batch_idx, "step", *rank)

    def note_loss(self, loss: Tensor, items: Tensor) -> Tensor:
        """Record a step's loss for the epoch's mean; stop at a loss that is not finite.

        Args:
            loss: a scalar; the mean over ranks is the batch's loss.
            items: the batch's items, for the error.
        """
        step = self.trainer.fit_loop.epoch_loop.batch_idx
        self._unread.append((step, loss.detach(), items))
        if loss.device.type == "cpu" or len(self._unread) >= READ_EVERY:
            self.read_losses()
        return loss

    def note(self, name: str, value: float) -> None:
        """Record a step's figure; the history has its mean over the epoch's steps (and over ranks)."""
        if self.trainer.world_size > 1:
            value = float(self.trainer.strategy.reduce(torch.tensor(value, device=self.device), reduce_op="mean"))
        self._noted.setdefault(name, []).append(value)

    def read_losses(self) -> None:
        """Read the losses recorded since the last read; raise HearsightError for the first that is not finite."""
        if not self._unread:
            return
        unread, self._unread = self._unread, []
        values = torch.stack([loss.float() for _, loss, _ in unread])
        if self.trainer.world_size > 1:
            values = self.trainer.strategy.reduce(values, reduce_op="mean")
        for (step, _, items), value in zip(unread, values.tolist(), strict=True):
            if not math.isfinite(value):
                raise self._divergence(value, step, items)
            self._losses.append(value)

    def _divergence(self, value: float, step: int, items: Tensor) -> HearsightError:
        names = self.record_keys(items)
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        rate = self.trainer.optimizers[0].param_groups[0]["lr"]
        where = f"the loss is {value} in epoch {self.current_epoch}, step {step}, at learning rate {rate:.3g}"
        return HearsightError(
            f"{where}; records {', '.join(names[:NAMED])}{more}",
            where=self.name,
            hint="lower learning_rate or clip_gradient, or check these records; the last checkpoint is kept",
        )

    def on_train_epoch_end(self) -> None:
        """Validate the epoch and keep its weights if it is the best so far (the earliest of equals)."""
        self.read_losses()
        self.eval()
        trained = self.network
        self.network = trained if self.average is None else self.average
        with torch.no_grad(), self.trainer.precision_plugin.forward_context():
            score = self.judge()
        weights = self.network.state_dict()
        self.network = trained
        self.train()
        self.steps = self.first_step + self.global_step
        epoch = self.first_epoch + self.current_epoch
        record: dict[str, Any] = {"epoch": epoch, "validation": score or 0.0, **({"phase": self.phase} if self.phase else {})}
        means = {name: math.fsum(values) / len(values) for name, values in {"loss": self._losses, **self._noted}.items()}
        self.history.append(record | means)
        self._losses, self._noted = [], {}
        # Without a validation score the last epoch is kept.
        if score is None or not self.best or score > self.best["validation"]:
            kept = {name: tensor.detach().cpu().clone() for name, tensor in weights.items()}
            self.best = record | {"weights": kept}

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add history, best weights and the position inside the epoch; fail after a loss that is not finite."""
        self.read_losses()
        loop: Any = self.trainer.fit_loop
        epochs = loop.epoch_progress.current
        inside = epochs.started > epochs.processed
        done = loop.epoch_loop.batch_progress.current.processed if inside else 0
        checkpoint["recipe"] = {"history": self.history, "best": self.best, "steps": self.steps, "losses": self._losses}
        checkpoint["recipe"] |= {"noted": self._noted, "place": [epochs.processed, done]}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Restore all of it."""
        self.restore(checkpoint["recipe"])

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from the state that :meth:`on_save_checkpoint` saved."""
        self.history, self.best, self.steps = state["history"], state["best"], state["steps"]
        self._losses = list(state["losses"])
        self._noted = {name: list(values) for name, values in state["noted"].items()}
        epoch, done = state["place"]
        self._resumed = (epoch, done)

    @property
    def finished(self) -> bool:
        """Whether all epochs are trained."""
        return len(self.history) - self.first_epoch >= self.settings["epochs"]
