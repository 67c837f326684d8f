"""Batches from a prepared set: the view drawn for each record and epoch, and its words; data stays on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from components.core.seeded_rng import seeded_rng
from components.training.members import Members, undistorted
from components.vision.training_images import open_image, random_view, whole_view


class Batch(NamedTuple):
    """The input of a training step."""

    items: Tensor
    """B: item numbers in the data set."""
    features: Tensor
    """B × L × F, float16; or images, B × 3 × side × side, uint8."""
    words: Tensor
    """B · k × t, an item's k captions adjacent: START, words, END, PAD …; B × 0 for images without captions."""


class Items(torch.utils.data.Dataset[Any]):
    """Captions (or images) by number; each request names the epoch too, so worker processes can share it.

    Args:
        members: the images' features or files.
        image: n, the member of each item.
        words: n × t, or n × k × t for k captions of an image; None for images without captions.
        keys: n, the keys of the items' random draws.
        seed: seed of the draws.
        training: whether to draw a view; otherwise it is the undistorted image.
        fixed_shape: whether to keep all columns of ``words``, for compiled networks.
    """

    by_epoch = True

    def __init__(
        self,
        members: Members,
        image: NDArray[np.int64],
        words: NDArray[np.int32] | None,
        keys: Sequence[Any],
        seed: int,
        *,
        training: bool = True,
        fixed_shape: bool = False,
    ) -> None:
        self.members, self.image, self.words, self.keys, self.seed = members, image, words, keys, seed
        self.training, self.fixed_shape = training, fixed_shape

    def __len__(self) -> int:
        return len(self.image)

    def key(self, item: int) -> str:
        """Return the key of an item's record."""
        return str(self.keys[item])

    def __getitems__(self, pairs: Sequence[tuple[int, int]]) -> Batch:
        """Return the batch of (epoch, item) pairs; an item's view depends on seed, epoch and key."""
        items = np.array([item for _, item in pairs], dtype=np.int64)
        features = self.read_views(pairs)
        words = np.zeros((len(items), 0), dtype=np.int64)
        if self.words is not None:
            words = self.words[items].reshape(-1, self.words.shape[-1]).astype(np.int64)
            if not self.fixed_shape:
                words = words[:, : int((words != 0).sum(1).max(initial=2))]
        return Batch(torch.from_numpy(items), torch.from_numpy(features), torch.from_numpy(words))

    def read_views(self, pairs: Sequence[tuple[int, int]]) -> NDArray[Any]:
        """Return the network's input for (epoch, item) pairs."""
        raise NotImplementedError

    def view_rng(self, epoch: int, item: int) -> Any:
        """Return the random generator of an item's view."""
        return seeded_rng(self.seed, epoch, self.key(item), "view")


class FeatureItems(Items):
    """Features of a frozen encoder: arrays of views × (1 + cells) × F.

    Args:
        grid: whether to use the cells' vectors; otherwise that of the full image.
    """

    def __init__(self, *given: Any, grid: bool, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.grid = grid

    @property
    def width(self) -> int:
        """The number of features, F."""
        return int(self.members.choose_view(0, first=True).shape[1])

    def read_views(self, pairs: Sequence[tuple[int, int]]) -> NDArray[np.float16]:
        """Return features, B × L × F."""
        views = []
        for epoch, item in pairs:
            draw = self.view_rng(epoch, item).randrange if self.training else undistorted
            views.append(self.members.choose_view(int(self.image[item]), draw, first=not self.grid))
        return np.stack(views, dtype=np.float16)


class ImageItems(Items):
    """Images for an encoder that is trained with the captioner.

    Args:
        side: side of the encoder's input, px.
    """

    def __init__(self, *given: Any, side: int, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.side = side

    def read_views(self, pairs: Sequence[tuple[int, int]]) -> NDArray[np.uint8]:
        """Return pixels, B × 3 × side × side."""
        views = []
        for epoch, item in pairs:
            image = open_image(self.members.read(int(self.image[item])), self.side, self.key(item))
            views.append(
                random_view(image, self.side, self.view_rng(epoch, item)) if self.training else whole_view(image, self.side)
            )
        return np.stack(views).transpose(0, 3, 1, 2)
