"""Batches of pairs, made as they are needed: a clip's coefficients, cropped; a picture's view; who matches whom.

Every draw is keyed by the seed, the epoch and the utterance, so neither the number of reading processes nor a kill changes a
batch. SpecAugment is the recipe's: it fills with the mean of normalised coefficients, and the network holds that mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from components.audio.files import from_flac
from components.core.draws import draw
from components.core.errors import HearsightError
from components.models.mfcc import MFCC, MfccSettings
from components.providers.picture_crops import evaluation_view, training_view
from components.providers.pictures import open_picture
from components.retrieval.pairs import Pairs

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
        held: MB to keep at most; what does not fit is computed each time, to the same numbers.
    """

    def __init__(self, pairs: Pairs, held: int, settings: MfccSettings | None = None) -> None:
        self.pairs, self.room = pairs, held * 1_000_000
        self.transform = MFCC(settings)
        self._kept: dict[int, Tensor] = {}

    def __getitem__(self, item: int) -> Tensor:
        """Coefficients × frames.

        Raises:
            HearsightError: the utterance is no whole FLAC.
        """
        found = self._kept.get(item)
        if found is None:
            try:
                samples = from_flac(self.pairs.audio.read(item))
            except RuntimeError as error:  # soundfile's own, which is of no use to import here
                what = f"is no whole FLAC ({error})"
                raise HearsightError(what, where=self.pairs.keys[item], mend="run the stage that speaks again") from error
            # Alone, so that a clip's numbers do not depend on what was computed with it.
            found = self.transform(torch.from_numpy(samples)[None])[0][0]
            size = found.numel() * found.element_size()
            if size <= self.room:
                self._kept[item], self.room = found, self.room - size
        return found

    def statistics(self, seed: int) -> tuple[Tensor, Tensor]:
        """Mean and deviation of each coefficient over the frames of drawn clips: coefficients × 1 each."""
        items = draw(seed, "normalisation").sample(range(len(self.pairs)), min(NORMALISED_BY, len(self.pairs)))
        total, squares, frames = 0.0, 0.0, 0
        for item in sorted(items):
            clip = self[item].double()
            total, squares, frames = total + clip.sum(1), squares + clip.square().sum(1), frames + clip.shape[1]
        mean = torch.as_tensor(total) / frames
        deviation = (torch.as_tensor(squares) / frames - mean.square()).clamp_min(0).sqrt().clamp_min(1e-3)
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
            clip = self.coefficients[int(self.rows[item])]
            start = 0
            if self.training and clip.shape[1] > self.frames:
                start = draw(self.seed, epoch, self.key(item), "crop").randrange(clip.shape[1] - self.frames + 1)
            clips.append(clip[:, start : start + self.frames])
        longest = self.frames if self.fixed else max(clip.shape[1] for clip in clips)
        speech = torch.zeros(len(clips), clips[0].shape[0], longest)
        for row, clip in zip(speech, clips, strict=True):
            row[:, : clip.shape[1]] = clip
        return speech, torch.tensor([clip.shape[1] for clip in clips])

    def pictures(self, wanted: Sequence[tuple[int, str, int]]) -> Tensor:
        """The pictures of (epoch, what the draw is keyed by, picture's number) as the image tower reads them."""
        seen = [self._pixels(*one) if self.side else self._features(*one) for one in wanted]
        return torch.from_numpy(np.stack(seen))

    def _features(self, epoch: int, key: str, picture: int) -> NDArray[np.float16]:
        media, view = self.pairs.media, 0
        if self.training:
            view = draw(self.seed, epoch, key, "view").randrange(len(media.array(picture)))
        elif self.crop == "centre":
            if self.pairs.centre is None:
                raise HearsightError("holds no centre crops", where=self.pairs.sha256[picture], mend="set prepare's centre: true")
            media = self.pairs.centre
        found: NDArray[np.float16] = media.array(picture)[view, 0]
        return found

    def _pixels(self, epoch: int, key: str, picture: int) -> NDArray[np.uint8]:
        opened = open_picture(self.pairs.media.read(picture), self.side, self.pairs.sha256[picture])
        if self.training:
            pixels = training_view(opened, self.side, draw(self.seed, epoch, key, "view"))
        else:
            pixels = evaluation_view(opened, self.side, self.crop)
        return pixels.transpose(2, 0, 1)
