"""What speech towers read of an utterance, as rows × columns: MFCCs, states of a pretrained encoder, or words.

A tower names its input (``SpeechTower.reads``); :func:`open_input` returns the one of a set's utterances, and :data:`INPUTS` the
classes, which make the same of a single sound. The length of clips is given in frames of 10 ms for all of them.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
import soundfile
import torch
from numpy.typing import NDArray
from torch import Tensor

from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
from components.core.seeded_rng import seeded_rng
from components.metrics.tokens import tokenize
from components.models.mfcc import excerpt, frame_count, mfcc
from components.models.pooled_towers import TextSpeech
from components.models.towers import SpeechTower
from components.retrieval.pairs import Pairs
from components.speech.audio.files import Samples
from components.speech.recognition.encoder_states import AVERAGED, EncoderStates, unpack
from components.speech.recognition.hub_states import Ear

NORMALISED_BY = 2000
"""Maximum number of training clips for the mean and deviation that normalise a row."""
RARE = 2
"""A word of fewer training captions is an unknown one, so that a tower learns what to make of those."""
LONGEST_TEXT = 50
"""Words of a caption that are read."""


class SpeechInput(ABC):
    """The input of utterances, computed on first use and kept up to a memory limit.

    Args:
        held: MB to keep at most; utterances beyond it are computed each time, with the same values.
    """

    def __init__(self, pairs: Pairs, held: float) -> None:
        self.pairs, self.room, self.keeps = pairs, int(held * 1_000_000), held > 0
        self._kept: dict[int, Tensor] = {}

    @staticmethod
    @abstractmethod
    def columns(frames: int) -> int:
        """Return how many columns clips of ``frames`` frames of 10 ms have."""

    @staticmethod
    @abstractmethod
    def masks(rows: int, frames: int) -> tuple[int, int]:
        """Return SpecAugment's F and T in rows and columns, given in coefficients and frames of 10 ms."""

    @abstractmethod
    def _compute(self, item: int) -> Tensor:
        """Return an utterance as it is kept."""

    def _values(self, kept: Tensor) -> Tensor:
        """Return rows × columns of what is kept."""
        return kept

    def __getitem__(self, item: int) -> Tensor:
        """Return rows × columns of an utterance; raise HearsightError if its file is not a valid FLAC file."""
        kept = self._kept.get(item)
        if kept is None:
            # Computed alone, so that a clip's values do not depend on a batch.
            kept = self._compute(item)
            size = kept.numel() * kept.element_size()
            if size <= self.room:
                self._kept[item], self.room = kept, self.room - size
        return self._values(kept)

    def part(self, item: int, frames: int, choose_start: Callable[[int], int]) -> Tensor:
        """Return rows × at most ``columns(frames)`` columns of an utterance, float32.

        Args:
            choose_start: maps a longer clip's number of excess columns to the first column.

        Raises:
            HearsightError: as :meth:`__getitem__`.
        """
        clip, columns = self[item], self.columns(frames)
        first = choose_start(clip.shape[1] - columns) if clip.shape[1] > columns else 0
        return clip[:, first : first + columns].float()

    def statistics(self, rows: NDArray[np.int64], seed: int) -> tuple[Tensor, Tensor]:
        """Return mean and deviation of each row over the columns of a sample of clips: rows × 1 each.

        Args:
            rows: the training utterances; no other is read.
        """
        items = seeded_rng(seed, "normalisation").sample(rows.tolist(), min(NORMALISED_BY, len(rows)))
        total = squares = torch.zeros((), dtype=torch.float64)
        columns = 0
        for item in sorted(items):
            clip = self[item].double()
            total, squares, columns = total + clip.sum(1), squares + clip.square().sum(1), columns + clip.shape[1]
        mean = total / columns
        deviation = (squares / columns - mean.square()).clamp_min(0).sqrt().clamp_min(1e-3)
        return mean[:, None].float(), deviation[:, None].float()

    def _samples(self, item: int, start: int = 0, end: int | None = None) -> Samples:
        with self._open(item) as flac:
            samples: Samples = soundfile.read(flac, start=start, stop=end, dtype="float32")[0]
            if end is not None and len(samples) < end - start:
                raise RuntimeError(f"it ends after {start + len(samples)} samples")
        return samples

    @contextmanager
    def _open(self, item: int) -> Iterator[io.BytesIO]:
        """Open an utterance's file; soundfile's errors become errors of its record."""
        with readable(self.pairs.keys[item]):
            yield io.BytesIO(self.pairs.audio.read(item))


@contextmanager
def readable(key: str) -> Iterator[None]:
    """Turn soundfile's errors into HearsightError of the utterance ``key``."""
    try:
        yield
    except RuntimeError as error:
        what = f"is not a valid FLAC file ({error})"
        raise HearsightError(what, where=key, hint="run the stage that wrote the speech again") from error


class Coefficients(SpeechInput):
    """MFCCs: 128 × frames of 10 ms.

    Kept ones are in half precision: it changes a value of some hundred by .1, far less than its deviation, and twice as many
    clips fit. With ``held`` 0, only the frames needed are read and computed, in full precision.
    """

    @staticmethod
    def columns(frames: int) -> int:
        return frames

    @staticmethod
    def masks(rows: int, frames: int) -> tuple[int, int]:
        return rows, frames

    @staticmethod
    def of_sound(samples: Samples) -> Tensor:
        """Return the coefficients of a sound, float32."""
        return mfcc(torch.from_numpy(samples))

    def _compute(self, item: int) -> Tensor:
        clip = self.of_sound(self._samples(item))
        return clip.half() if self.keeps else clip

    def part(self, item: int, frames: int, choose_start: Callable[[int], int]) -> Tensor:
        # A matrix product's rounding may depend on the number of rows, so the method must not depend on what is kept.
        if not self.keeps:
            with self._open(item) as flac:
                samples = int(soundfile.info(flac).frames)
            excess = frame_count(samples) - frames
            if excess > 0:
                start, end, before = excerpt(choose_start(excess), frames)
                return self.of_sound(self._samples(item, start, min(end, samples)))[:, before : before + frames]
        return super().part(item, frames, choose_start)


WHISPER = EncoderStates()


class States(SpeechInput):
    """States of a frozen encoder, its width × states of 80 ms, from the result cache: computed once for all trainings.

    Args:
        ear: what hears.
    """

    frames = 2 * AVERAGED
    """Frames of 10 ms for which a state stands."""

    def __init__(self, pairs: Pairs, held: float, annotations: ResultCache, ear: Ear = WHISPER) -> None:
        super().__init__(pairs, held)
        self.ear, self.annotations, self.digests = ear, annotations, pairs.utterances["audio_sha256"].to_pylist()

    @staticmethod
    def columns(frames: int) -> int:
        return -(-frames // States.frames)

    @staticmethod
    def masks(rows: int, frames: int) -> tuple[int, int]:
        # Neighbouring channels of a state have nothing in common.
        return 0, frames // States.frames

    @staticmethod
    def of_sound(samples: Samples, ear: Ear = WHISPER) -> Tensor:
        """Return the states of a sound, float32; raise HearsightError if the encoder is not installed."""
        return torch.from_numpy(unpack(ear.compute(samples)).T)

    def _compute(self, item: int) -> Tensor:
        digest = self.digests[item]
        return torch.from_numpy(self.annotations.annotate(self.ear, {digest: partial(self._samples, item)})[digest])

    def _values(self, kept: Tensor) -> Tensor:
        return torch.from_numpy(unpack(kept.numpy()).T)


class Words(SpeechInput):
    """Words as their numbers in a vocabulary, 1 × words; a text without a word is one unknown word.

    Args:
        texts: of the utterances; by default their captions.
    """

    def __init__(self, pairs: Pairs, held: float, vocabulary: Sequence[str], texts: Sequence[str] | None = None) -> None:
        super().__init__(pairs, held)
        self.number = {word: number for number, word in enumerate(vocabulary, start=1)}
        self.texts = pairs.utterances["caption"].to_pylist() if texts is None else texts

    @staticmethod
    def columns(frames: int) -> int:
        return LONGEST_TEXT

    @staticmethod
    def masks(rows: int, frames: int) -> tuple[int, int]:
        return 0, 0

    def statistics(self, rows: NDArray[np.int64], seed: int) -> tuple[Tensor, Tensor]:
        """Return what leaves numbers as they are."""
        return torch.zeros(1, 1), torch.ones(1, 1)

    def _compute(self, item: int) -> Tensor:
        return torch.tensor([[self.number.get(word, 0) for word in tokenize(self.texts[item])] or [0]])


INPUTS: dict[str, type[Coefficients] | type[States]] = {"coefficients": Coefficients, "states": States}
"""What a tower reads → its input; ``words`` are not made from a sound."""


def open_input(
    tower: SpeechTower,
    pairs: Pairs,
    held: float,
    annotations: ResultCache,
    texts: Sequence[str] | None = None,
    ear: Ear = WHISPER,
) -> SpeechInput:
    """Return what a tower reads of these utterances; the arguments are those of the inputs."""
    if isinstance(tower, TextSpeech):
        return Words(pairs, held, tower.vocabulary, texts)
    return States(pairs, held, annotations, ear) if tower.reads == "states" else Coefficients(pairs, held)


def vocabulary_of(captions: Sequence[str]) -> tuple[str, ...]:
    """Return the words of at least two of these captions, in alphabetical order; of few captions all words."""
    counts = Counter(word for caption in captions for word in set(tokenize(caption)))
    return tuple(sorted(word for word, count in counts.items() if count >= RARE)) or tuple(sorted(counts))
