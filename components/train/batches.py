"""The order of training: a function of the seed and the epoch alone, so a resumed run sees the same batches."""

from __future__ import annotations

from collections.abc import Iterator

from components.core.draws import draw


class EpochBatches:
    """A batch sampler for torch's DataLoader, told the epoch by Lightning (``set_epoch``).

    The last batch of an epoch may be smaller; it is left out when it would hold a single item (a contrastive loss
    over one pair is nothing) unless it is the only one.
    """

    def __init__(self, items: int, size: int, seed: int) -> None:
        self.items, self.size, self.seed = items, size, seed
        self.epoch = 0
        # Lightning tells the epoch to a loader's sampler and to its batch sampler's sampler, not to a batch sampler.
        self.sampler = self

    def set_epoch(self, epoch: int) -> None:
        """The epoch whose order the next iteration gives."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        order = list(range(self.items))
        draw(self.seed, self.epoch, "batches").shuffle(order)
        for number in range(len(self)):
            yield order[number * self.size : (number + 1) * self.size]

    def __len__(self) -> int:
        whole, rest = divmod(self.items, self.size)
        return whole + (1 if rest > 1 or whole == 0 else 0)
