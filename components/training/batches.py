"""The order of training: a function of the seed and the epoch alone, so a resumed run sees the same batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from components.core.seeded_rng import seeded_rng


class EpochBatches:
    """A batch sampler for torch's DataLoader, told the epoch by Lightning (``set_epoch``).

    The last batch of an epoch may be smaller; it is left out when it would hold a single item (a contrastive loss
    over one pair is nothing), or fewer than there are ranks, unless it is the only one.

    Args:
        items: how many there are.
        size: of a batch, over all ranks; rank r takes the batch's items r, r + world, ….
        by_epoch: give (epoch, item) instead of the item, for data that is drawn anew each epoch.
    """

    def __init__(self, items: int, size: int, seed: int, *, rank: int = 0, world: int = 1, by_epoch: bool = False) -> None:
        self.items, self.size, self.seed = items, size, seed
        self.rank, self.world, self.by_epoch = rank, world, by_epoch
        self.epoch = 0
        self._done: tuple[int, int] = (-1, 0)
        # Lightning tells the epoch to a loader's sampler and to its batch sampler's sampler, not to a batch sampler.
        self.sampler = self

    def set_epoch(self, epoch: int) -> None:
        """The epoch whose order the next iteration gives."""
        self.epoch = epoch

    def resume(self, epoch: int, batches: int) -> None:
        """Leave out the first ``batches`` of ``epoch``: they were taken before a kill. Their numbers still count in ``len``."""
        self._done = (epoch, batches)

    def __iter__(self) -> Iterator[list[Any]]:
        order = list(range(self.items))
        seeded_rng(self.seed, self.epoch, "batches").shuffle(order)
        first = self._done[1] if self._done[0] == self.epoch else 0
        for number in range(first, len(self)):
            batch = order[number * self.size : (number + 1) * self.size][self.rank :: self.world]
            yield [(self.epoch, item) for item in batch] if self.by_epoch else batch

    def __len__(self) -> int:
        whole, rest = divmod(self.items, self.size)
        return whole + (1 if rest >= max(2, self.world) or whole == 0 else 0)
