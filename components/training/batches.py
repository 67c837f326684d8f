"""The order of training items as a function of seed and epoch, so that a resumed run gets the same batches; and their loader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import DataLoader

from components.core.seeded_rng import seeded_rng
from components.execution.process import die_with_parent

if TYPE_CHECKING:
    from components.training.settings import DeviceSettings


class EpochBatches:
    """A batch sampler for torch's DataLoader; Lightning sets the epoch (``set_epoch``).

    The last batch of an epoch may be smaller. It is left out if it has one item (a contrastive loss needs two) or fewer items
    than there are ranks, unless it is the only one.

    Args:
        items: number of items.
        size: of a batch, over all ranks; rank r gets the batch's items r, r + world, ….
        by_epoch: yield (epoch, item) instead of the item, for data that is augmented anew each epoch.
    """

    def __init__(self, items: int, size: int, seed: int, *, rank: int = 0, world: int = 1, by_epoch: bool = False) -> None:
        self.items, self.size, self.seed = items, size, seed
        self.rank, self.world, self.by_epoch = rank, world, by_epoch
        self.epoch = 0
        self._done: tuple[int, int] = (-1, 0)
        # Lightning calls set_epoch on a loader's sampler and on its batch sampler's sampler, not on a batch sampler.
        self.sampler = self

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next iteration."""
        self.epoch = epoch

    def resume(self, epoch: int, batches: int) -> None:
        """Skip the first ``batches`` of ``epoch``, which were trained before an interruption. ``len`` still counts them."""
        self._done = (epoch, batches)

    def __iter__(self) -> Iterator[list[Any]]:
        order = list(range(self.items))
        seeded_rng(self.seed, self.epoch, "batches").shuffle(order)
        first = self._done[1] if self._done[0] == self.epoch else 0
        for number in range(first, len(self)):
            batch = order[number * self.size : (number + 1) * self.size][self.rank :: self.world]
            yield [(self.epoch, item) for item in batch] if self.by_epoch else batch

    def __len__(self) -> int:
        full, rest = divmod(self.items, self.size)
        return full + (1 if rest >= max(2, self.world) or full == 0 else 0)


def loader(data: Any, batches: Any, hardware: DeviceSettings) -> DataLoader[Any]:
    """Return a loader of whole batches (made by ``data.__getitems__``), with pinned memory for a GPU."""
    ahead: dict[str, Any] = {"persistent_workers": True, "prefetch_factor": 4} if hardware.workers else {}
    return DataLoader(
        data,
        batch_sampler=batches,
        num_workers=hardware.workers,
        collate_fn=_identity,
        pin_memory=hardware.device() == "gpu",
        worker_init_fn=_begin_worker,
        **ahead,
    )


def _identity(batch: Any) -> Any:
    return batch


def _begin_worker(number: int) -> None:
    die_with_parent()
    torch.set_num_threads(1)
