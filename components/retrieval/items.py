"""Batches of pairs, made on demand: cropped coefficients of clips, views of images, and identities.

Every draw is keyed by seed, epoch and utterance, so batches depend neither on the number of reader processes nor on
interruptions. The recipe applies SpecAugment, since it fills with the mean of normalised coefficients, which the network holds.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import soundfile
import torch
from numpy.typing import NDArray
from torch import Tensor

from components.core.errors import HearsightError
from components.core.seeded_rng import seeded_rng
from components.models.mfcc import excerpt, frame_count, mfcc
from components.retrieval.pairs import Pairs
from components.vision.crops import evaluation_view, training_view
from components.vision.training_images import open_image

Crop = Literal["centre", "whole"]
"""Part of an image used in evaluation; the paper uses the centre (CSC §4.4)."""
NORMALISED_BY = 2000
"""Maximum number of training clips for the mean and deviation that normalise coefficients."""


class Batch(NamedTuple):
    """The input of a training step."""

    items: Tensor
    """B: the items' numbers in the data set."""
    speech: Tensor
    """B × coefficients × frames, float32, from :func:`~components.models.mfcc.mfcc`; zero after a clip's end."""
    lengths: Tensor
    """B: the frames of each clip."""
    images: Tensor
    """B × F, float16; or B × 3 × side × side, uint8."""
    identities: Tensor
    """B: equal numbers match."""


class Coefficients:
    """The MFCCs of utterances, computed on first use and cached up to a memory limit.

    Cached ones are in half precision: it changes a value of some hundred by .1, far less than its deviation, and twice as many
    clips fit.

    Args:
        held: MB to cache at most; clips beyond it are computed each time, with the same values. With 0, only the frames needed
            are read and computed, in full precision.
    """

    def __init__(self, pairs: Pairs, held: float) -> None:
        self.pairs, self.room, self.keeps = pairs, int(held * 1_000_000), held > 0
        self._kept: dict[int, Tensor] = {}

    def __getitem__(self, item: int) -> Tensor:
        """Return coefficients × frames of an utterance, float16; with ``held`` 0, float32.

        Raises:
            HearsightError: its file is not a valid FLAC file.
        """
        if not self.keeps:
            return self._compute(item)
        clip = self._kept.get(item)
        if clip is None:
            # Computed alone, so that a clip's values do not depend on a batch.
            clip = self._compute(item).half()
            size = clip.numel() * clip.element_size()
            if size <= self.room:
                self._kept[item], self.room = clip, self.room - size
        return clip

    def part(self, item: int, frames: int, choose_start: Callable[[int], int]) -> Tensor:
        """Return coefficients × at most ``frames`` frames of an utterance, float32.

        Args:
            choose_start: maps a longer clip's number of excess frames to the first frame.

        Raises:
            HearsightError: as :meth:`__getitem__`.
        """
        # A matrix product's rounding may depend on the number of rows, so the method must not depend on what is cached.
        if not self.keeps:
            with self._open(item) as flac:
                samples = int(soundfile.info(flac).frames)
            excess = frame_count(samples) - frames
            if excess > 0:
                start, end, before = excerpt(choose_start(excess), frames)
                return self._compute(item, start, min(end, samples))[:, before : before + frames]
        clip = self[item]
        first = choose_start(clip.shape[1] - frames) if clip.shape[1] > frames else 0
        return clip[:, first : first + frames].float()

    def _compute(self, item: int, start: int = 0, end: int | None = None) -> Tensor:
        return mfcc(self._samples(item, start, end))

    def _samples(self, item: int, start: int = 0, end: int | None = None) -> Tensor:
        with self._open(item) as flac:
            samples = soundfile.read(flac, start=start, stop=end, dtype="float32")[0]
            if end is not None and len(samples) < end - start:
                raise RuntimeError(f"it ends after {start + len(samples)} samples")
        return torch.from_numpy(samples)

    @contextmanager
    def _open(self, item: int) -> Iterator[io.BytesIO]:
        """Open an utterance's file; soundfile's errors become errors of its record."""
        try:
            yield io.BytesIO(self.pairs.audio.read(item))
        except RuntimeError as error:
            what = f"is not a valid FLAC file ({error})"
            raise HearsightError(what, where=self.pairs.keys[item], hint="run the stage that wrote the speech again") from error

    def statistics(self, rows: NDArray[np.int64], seed: int) -> tuple[Tensor, Tensor]:
        """Return mean and deviation of each coefficient over the frames of a sample of clips: coefficients × 1 each.

        Args:
            rows: the training utterances; no other is read.
        """
        items = seeded_rng(seed, "normalisation").sample(rows.tolist(), min(NORMALISED_BY, len(rows)))
        total = squares = torch.zeros((), dtype=torch.float64)
        frames = 0
        for item in sorted(items):
            clip = self[item].double()
            total, squares, frames = total + clip.sum(1), squares + clip.square().sum(1), frames + clip.shape[1]
        mean = total / frames
        deviation = (squares / frames - mean.square()).clamp_min(0).sqrt().clamp_min(1e-3)
        return mean[:, None].float(), deviation[:, None].float()


class PairItems(torch.utils.data.Dataset[Any]):
    """Pairs by number, shared by reader processes: each request includes the epoch.

    Args:
        rows: indices of the pairs, in this order.
        frames: clip length; training crops start at a drawn frame, others at the first: captions name the most important things
            first.
        side: of images in px if the image tower reads pixels; 0 if it reads features.
        crop: of images in evaluation.
        fixed: pad every batch to ``frames``, for towers that are affected by padding and for compiled ones.
    """

    by_epoch = True

    def __init__(
        self,
        pairs: Pairs,
        coefficients: Coefficients,
        rows: NDArray[np.int64],
        *,
        seed: int,
        frames: int,
        side: int,
        training: bool,
        crop: Crop = "centre",
        fixed: bool = False,
    ) -> None:
        self.pairs, self.coefficients, self.rows, self.seed = pairs, coefficients, rows, seed
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
        """Return the clips of (epoch, item) pairs as one tensor, and the frames of each."""
        clips = []
        for epoch, item in pairs:
            choose_start = partial(self._crop_start, epoch, self.key(item))
            clips.append(self.coefficients.part(int(self.rows[item]), self.frames, choose_start))
        longest = self.frames if self.fixed else max(clip.shape[1] for clip in clips)
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
