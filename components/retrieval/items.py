"""Batches of pairs, made as they are needed: a clip's coefficients, cropped; a picture's view; who matches whom.

Every draw is keyed by the seed, the epoch and the utterance, so neither the number of reading processes nor a kill changes a
batch. SpecAugment is the recipe's: it fills with the mean of normalised coefficients, and the network holds that mean.
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
from components.models.mfcc import MFCC, MfccSettings
from components.retrieval.pairs import Pairs
from components.vision.crops import evaluation_view, training_view
from components.vision.training_pictures import open_picture

Crop = Literal["centre", "whole"]
"""What of a picture is seen in evaluation: the paper's models are given its centre (section 4.4)."""
NORMALISED_BY = 2000
"""Training clips, at most, whose coefficients' mean and deviation normalise every clip."""


class Batch(NamedTuple):
    """What a step is given."""

    items: Tensor
    """B: their numbers in the data set."""
    speech: Tensor
    """B × coefficients × frames, float32, as :class:`MFCC` gives them; zero behind a clip's own."""
    lengths: Tensor
    """B: the frames of each clip."""
    pictures: Tensor
    """B × F, float16; or B × 3 × side × side, uint8."""
    identities: Tensor
    """B: equal numbers match."""


class Coefficients:
    """Each utterance's MFCCs, computed when first asked for and kept as far as memory is granted.

    Args:
        held: MB to keep at most; what does not fit is computed each time, to the same numbers. With 0 no more of a clip is
            read and computed than is seen, to the same numbers but for the rounding of float32.
    """

    def __init__(self, pairs: Pairs, held: int, settings: MfccSettings | None = None) -> None:
        self.pairs, self.room, self.keeps = pairs, held * 1_000_000, held > 0
        self.transform = MFCC(settings)
        self._kept: dict[int, Tensor] = {}

    def __getitem__(self, item: int) -> Tensor:
        """Coefficients × frames.

        Raises:
            HearsightError: the utterance is no whole FLAC.
        """
        found = self._kept.get(item)
        if found is None:
            # Alone, so that a clip's numbers do not depend on what was computed with it.
            found = self.transform(self._samples(item)[None])[0][0]
            size = found.numel() * found.element_size()
            if size <= self.room:
                self._kept[item], self.room = found, self.room - size
        return found

    def part(self, item: int, frames: int, place: Callable[[int], int]) -> Tensor:
        """Coefficients × at most ``frames`` frames.

        Args:
            place: how many frames a longer clip has too many → the first that is seen.

        Raises:
            HearsightError: as :meth:`__getitem__`.
        """
        # A product of matrices may round a row by how many there are: the way there must not depend on what happens to be kept.
        if not self.keeps:
            with self._named(item) as flac:
                samples = int(soundfile.info(flac).frames)
            too_many = int(self.transform.frames(torch.tensor(samples))) - frames
            reach = self.transform.excerpt(place(too_many), frames) if too_many > 0 else None
            if reach is not None:
                start, end, before = reach
                return self.transform(self._samples(item, start, min(end, samples))[None])[0][0][:, before : before + frames]
        clip = self[item]
        first = place(clip.shape[1] - frames) if clip.shape[1] > frames else 0
        return clip[:, first : first + frames]

    def _samples(self, item: int, start: int = 0, end: int | None = None) -> Tensor:
        with self._named(item) as flac:
            samples = soundfile.read(flac, start=start, stop=end, dtype="float32")[0]
            if end is not None and len(samples) < end - start:
                raise RuntimeError(f"it ends after {start + len(samples)} samples")
        return torch.from_numpy(samples)

    @contextmanager
    def _named(self, item: int) -> Iterator[io.BytesIO]:
        """An utterance's file; soundfile's errors as those of its record."""
        try:
            yield io.BytesIO(self.pairs.audio.read(item))
        except RuntimeError as error:
            what = f"is no whole FLAC ({error})"
            raise HearsightError(what, where=self.pairs.keys[item], hint="run the stage that speaks again") from error

    def statistics(self, rows: NDArray[np.int64], seed: int) -> tuple[Tensor, Tensor]:
        """Mean and deviation of each coefficient over the frames of drawn clips: coefficients × 1 each.

        Args:
            rows: the utterances that are trained on; no other is listened to.
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
    """Pairs by number; worker processes share it, for it is told the epoch with each number.

    Args:
        rows: which of the pairs, in this order.
        frames: what a clip is cropped to, from a drawn place in training, else from its beginning: captions name the most
            important things first.
        side: px, where the image tower reads pixels; 0 where it reads features.
        crop: of the picture, in evaluation.
        fixed: pad every batch to ``frames``: for towers in which padding counts, and for compiled ones.
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
        """The utterance's key."""
        return self.keys[self.rows[item]]

    def __getitems__(self, pairs: Sequence[tuple[int, int]]) -> Batch:
        """A batch of (epoch, item) pairs."""
        items = [item for _, item in pairs]
        speech, lengths = self.speech(pairs)
        pictures = self.pictures([(epoch, self.key(item), int(self.pairs.picture[self.rows[item]])) for epoch, item in pairs])
        identities = torch.from_numpy(self.pairs.identity[self.rows[items]])
        return Batch(torch.tensor(items), speech, lengths, pictures, identities)

    def speech(self, pairs: Sequence[tuple[int, int]]) -> tuple[Tensor, Tensor]:
        """The clips of (epoch, item) pairs as one tensor, and the frames of each."""
        clips = []
        for epoch, item in pairs:
            place = partial(self._place, epoch, self.key(item))
            clips.append(self.coefficients.part(int(self.rows[item]), self.frames, place))
        longest = self.frames if self.fixed else max(clip.shape[1] for clip in clips)
        speech = torch.zeros(len(clips), clips[0].shape[0], longest)
        for row, clip in zip(speech, clips, strict=True):
            row[:, : clip.shape[1]] = clip
        return speech, torch.tensor([clip.shape[1] for clip in clips])

    def _place(self, epoch: int, key: str, too_many: int) -> int:
        return seeded_rng(self.seed, epoch, key, "crop").randrange(too_many + 1) if self.training else 0

    def pictures(self, wanted: Sequence[tuple[int, str, int]]) -> Tensor:
        """The pictures of (epoch, what the draw is keyed by, picture's number) as the image tower reads them."""
        seen = [self._pixels(*one) if self.side else self._features(*one) for one in wanted]
        return torch.from_numpy(np.stack(seen))

    def _features(self, epoch: int, key: str, picture: int) -> NDArray[np.float16]:
        media, view = self.pairs.media, 0
        if self.training:
            view = seeded_rng(self.seed, epoch, key, "view").randrange(len(media.array(picture)))
        elif self.crop == "centre":
            if self.pairs.centre is None:
                raise HearsightError("holds no centre crops", where=self.pairs.sha256[picture], hint="set prepare's centre: true")
            media = self.pairs.centre
        found: NDArray[np.float16] = media.array(picture)[view, 0]
        return found

    def _pixels(self, epoch: int, key: str, picture: int) -> NDArray[np.uint8]:
        opened = open_picture(self.pairs.media.read(picture), self.side, self.pairs.sha256[picture])
        if self.training:
            pixels = training_view(opened, self.side, seeded_rng(self.seed, epoch, key, "view"))
        else:
            pixels = evaluation_view(opened, self.side, self.crop)
        return pixels.transpose(2, 0, 1)
