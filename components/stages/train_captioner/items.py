"""A batch from a prepared set: the view drawn for the record and the epoch, and its words. Nothing is held but places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from components.core.seeded_rng import seeded_rng
from components.training.members import Members
from components.vision.training_pictures import open_picture, random_view, whole_view


class Batch(NamedTuple):
    """What a step is given."""

    items: Tensor
    """B: their numbers in the data set."""
    features: Tensor
    """B × L × F, float16; or pictures, B × 3 × side × side, uint8."""
    words: Tensor
    """B × t: START, words, END, PAD …; B × 0 where pictures alone are gone through."""


class Items(torch.utils.data.Dataset[Any]):
    """Captions (or pictures) by number; worker processes share it, for it is told the epoch with each number.

    Args:
        members: the pictures' features or files.
        picture: n: the member of each item.
        words: n × t, or None for pictures alone.
        keys: n: what an item's draws are keyed by.
        seed: of the draws.
        training: draw a view; otherwise it is the undistorted picture.
        whole: keep all columns of ``words``, so that every batch has one shape (for compiled networks).
    """

    by_epoch = True

    def __init__(
        self,
        members: Members,
        picture: NDArray[np.int64],
        words: NDArray[np.int32] | None,
        keys: Sequence[Any],
        seed: int,
        *,
        training: bool = True,
        whole: bool = False,
    ) -> None:
        self.members, self.picture, self.words, self.keys, self.seed = members, picture, words, keys, seed
        self.training, self.whole = training, whole

    def __len__(self) -> int:
        return len(self.picture)

    def key(self, item: int) -> str:
        """The record's key."""
        return str(self.keys[item])

    def __getitems__(self, pairs: Sequence[tuple[int, int]]) -> Batch:
        """A batch of (epoch, item) pairs; an item's view is a function of seed, epoch and key."""
        items = np.array([item for _, item in pairs], dtype=np.int64)
        features = self.see(pairs)
        words = np.zeros((len(items), 0), dtype=np.int64)
        if self.words is not None:
            words = self.words[items].astype(np.int64)
            if not self.whole:
                words = words[:, : int((words != 0).sum(1).max(initial=2))]
        return Batch(torch.from_numpy(items), torch.from_numpy(features), torch.from_numpy(words))

    def see(self, pairs: Sequence[tuple[int, int]]) -> NDArray[Any]:
        """What the network sees of the items."""
        raise NotImplementedError

    def source(self, epoch: int, item: int) -> Any:
        """What an item's view is drawn from."""
        return seeded_rng(self.seed, epoch, self.key(item), "view")


class FeatureItems(Items):
    """Features that a frozen encoder made: arrays of views × (1 + cells) × F.

    Args:
        grid: take the cells' vectors; otherwise the one of the whole picture.
    """

    def __init__(self, *given: Any, grid: bool, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.grid = grid

    @property
    def width(self) -> int:
        """F."""
        return int(self.members.array(0).shape[2])

    def see(self, pairs: Sequence[tuple[int, int]]) -> NDArray[np.float16]:
        """B × L × F."""
        found: NDArray[np.float16] | None = None
        for row, (epoch, item) in enumerate(pairs):
            array = self.members.array(int(self.picture[item]))
            view = self.source(epoch, item).randrange(len(array)) if self.training else 0
            chosen = array[view, 1:] if self.grid else array[view, :1]
            if found is None:
                found = np.empty((len(pairs), *chosen.shape), dtype=np.float16)
            found[row] = chosen
        assert found is not None
        return found


class PictureItems(Items):
    """Pictures for an encoder that is trained too.

    Args:
        side: what the encoder takes, px.
    """

    def __init__(self, *given: Any, side: int, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.side = side

    def see(self, pairs: Sequence[tuple[int, int]]) -> NDArray[np.uint8]:
        """B × 3 × side × side."""
        found = np.empty((len(pairs), self.side, self.side, 3), dtype=np.uint8)
        for row, (epoch, item) in enumerate(pairs):
            picture = open_picture(self.members.read(int(self.picture[item])), self.side, self.key(item))
            found[row] = (
                random_view(picture, self.side, self.source(epoch, item)) if self.training else whole_view(picture, self.side)
            )
        return found.transpose(0, 3, 1, 2)
