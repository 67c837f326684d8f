"""Batches of pairs, made on demand: cropped inputs of clips, views of images, and identities.

Every draw is keyed by seed, epoch and utterance, so batches depend neither on the number of reader processes nor on
interruptions. The recipe applies SpecAugment, since it fills with the mean of normalised inputs, which the network holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from components.core.errors import HearsightError
from components.core.seeded_rng import seeded_rng
from components.retrieval.inputs import SpeechInput
from components.retrieval.pairs import Pairs
from components.vision.crops import evaluation_view, training_view
from components.vision.training_images import open_image

Crop = Literal["centre", "whole"]
"""Part of an image used in evaluation; the paper uses the centre (CSC §4.4)."""


class Batch(NamedTuple):
    """The input of a training step."""

    items: Tensor
    """B: the items' numbers in the data set."""
    speech: Tensor
    """B × rows × columns, float32, from the speech tower's input; zero after a clip's end."""
    lengths: Tensor
    """B: the columns of each clip."""
    images: Tensor
    """B × F, float16; or B × 3 × side × side, uint8."""
    identities: Tensor
    """B: equal numbers match."""


class PairItems(torch.utils.data.Dataset[Any]):
    """Pairs by number, shared by reader processes: each request includes the epoch.

    Args:
        rows: indices of the pairs, in this order.
        speech_input: what the speech tower reads of the pairs.
        frames: clip length in frames of 10 ms; training crops start at a drawn column, others at the first: captions name the
            most important things first.
        side: of images in px if the image tower reads pixels; 0 if it reads features.
        crop: of images in evaluation.
        fixed: pad every batch to the length of clips, for towers that are affected by padding and for compiled ones.
    """

    by_epoch = True

    def __init__(
        self,
        pairs: Pairs,
        speech_input: SpeechInput,
        rows: NDArray[np.int64],
        *,
        seed: int,
        frames: int,
        side: int,
        training: bool,
        crop: Crop = "centre",
        fixed: bool = False,
    ) -> None:
        self.pairs, self.speech_input, self.rows, self.seed = pairs, speech_input, rows, seed
        self.frames, self.side, self.training, self.crop, self.fixed = frames, side, training, crop, fixed
        self.keys = pairs.keys

    def __len__(self) -> int:
        return len(self.rows)

    def key(self, item: int) -> str:
        """Return the utterance's key."""
        return self.keys[self.rows[item]]

    def __getitems__(self, pairs: Sequence[tuple[int, int]]) -> Batch:
        """Return the batch of (epoch, item) pairs."""
        items = [item for _, item in pairs]
        speech, lengths = self.speech(pairs)
        images = self.images([(epoch, self.key(item), int(self.pairs.image[self.rows[item]])) for epoch, item in pairs])
        identities = torch.from_numpy(self.pairs.identity[self.rows[items]])
        return Batch(torch.tensor(items), speech, lengths, images, identities)

    def speech(self, pairs: Sequence[tuple[int, int]]) -> tuple[Tensor, Tensor]:
        """Return the clips of (epoch, item) pairs as one tensor, and the columns of each."""
        clips = []
        for epoch, item in pairs:
            choose_start = partial(self._crop_start, epoch, self.key(item))
            clips.append(self.speech_input.part(int(self.rows[item]), self.frames, choose_start))
        longest = self.speech_input.columns(self.frames) if self.fixed else max(clip.shape[1] for clip in clips)
        speech = torch.zeros(len(clips), clips[0].shape[0], longest)
        for row, clip in zip(speech, clips, strict=True):
            row[:, : clip.shape[1]] = clip
        return speech, torch.tensor([clip.shape[1] for clip in clips])

    def _crop_start(self, epoch: int, key: str, excess: int) -> int:
        return seeded_rng(self.seed, epoch, key, "crop").randrange(excess + 1) if self.training else 0

    def images(self, requests: Sequence[tuple[int, str, int]]) -> Tensor:
        """Return images as the image tower reads them, from (epoch, key of the draw, image's number)."""
        views = [self._pixels(*request) if self.side else self._features(*request) for request in requests]
        return torch.from_numpy(np.stack(views))

    def _features(self, epoch: int, key: str, image: int) -> NDArray[np.float16]:
        if self.training:
            draw = seeded_rng(self.seed, epoch, key, "view").randrange
            return self.pairs.media.choose_view(image, draw, first=True)[0]
        media = self.pairs.centre if self.crop == "centre" else self.pairs.media
        if media is None:
            raise HearsightError(
                "holds no centre crops", where=self.pairs.sha256[image], hint="set extract_features' centre: true"
            )
        return media.choose_view(image, first=True)[0]

    def _pixels(self, epoch: int, key: str, image: int) -> NDArray[np.uint8]:
        opened = open_image(self.pairs.media.read(image), self.side, self.pairs.sha256[image])
        if self.training:
            pixels = training_view(opened, self.side, seeded_rng(self.seed, epoch, key, "view"))
        else:
            pixels = evaluation_view(opened, self.side, self.crop)
        return pixels.transpose(2, 0, 1)
