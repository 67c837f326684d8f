"""The settings of a speech–image dual encoder; where the paper leaves a choice open, the setting says so (docs/retrieval.md)."""

from __future__ import annotations

from typing import Any, Literal, get_args

from components.core.errors import HearsightError
from components.core.params import Amount, NotNegative, Positive, Settings
from components.training.settings import Optimisation

Matching = Literal["image", "text", "group"]
LOSSES = {"mms": "masked_margin_softmax", "triplet": "triplet"}
"""What a row of table 1 calls a loss, and what it is."""
STARTS: dict[str, frozenset[str]] = {
    "none": frozenset(),
    "audio": frozenset({"speech"}),
    "image": frozenset({"image"}),
    "both": frozenset({"speech", "image"}),
}
"""Warm start as named in rows of table 2 → the towers copied from the pretrained model."""


Tower = Literal["convolutions", "inception_resnet_v2", "whisper", "text"]
"""The speech towers that a row may name before its loss or its start."""
TRANSCRIPT = "transcript"
"""What the row of a ``text`` tower is called where it reads recognised words."""


class Voices(Settings):
    """Settings of the stages that read speech."""

    voices: list[str] = []
    """Voices (speakers, for recordings) whose utterances are read; empty reads all. Ours."""

    def job_spec(self) -> dict[str, Any]:
        """Return the part of a job's spec that selects voices; empty for all, so that older results stay valid."""
        return {"voices": self.voices} if self.voices else {}


class Towers(Settings):
    """The two networks; CSC: two unshared Inception-ResNet-v2 to 1536 dimensions, compared by their raw dot product."""

    speech: Literal["convolutions", "inception_resnet_v2", "whisper"] = "inception_resnet_v2"
    """The speech tower of rows that name none: light, that of CSC §4.1 over MFCCs stacked three times, or over the states of
    Whisper's frozen encoder, or of ``ear``. CSC §4.1: inception_resnet_v2."""
    ear: str = ""
    """What whisper reads the states of instead of Whisper base: a Whisper, HuBERT, wav2vec 2.0 or WavLM of a hub (its id with the
    full hash of a commit) or a folder (docs/providers.md). Ours."""
    image: Literal["features", "convolutions", "efficientnet_lite0", "inception_resnet_v2"] = "inception_resnet_v2"
    """The image tower: over a frozen encoder's vector, a small one over pixels, or a large one over pixels (the paper's). CSC
    §4.1: inception_resnet_v2."""
    weights: str = ""
    """Where the image tower is a large one: the file that it begins from, below the project's root; empty for nothing (the paper:
    "not pretrained"). DVC does not see the file: after changing it, ``dvc repro -f``."""
    side: int = 299
    """px of an image where the image tower reads pixels; 0 is the network's own, and right for ``features``. CSC §4.1: 299."""
    embedding: int = 1536
    """Dimensions of the shared space. CSC §4.1: 1536."""
    scale: float = 0.0
    """0: the raw dot product (eq. 1). Above 0: embeddings are L2-normalised, and their cosine is multiplied by this. The paper
    names neither normalisation nor temperature. CSC §3: the raw dot product."""
    pool_padding: bool = True
    """Whether inception_resnet_v2 pools over padding too. Open in the paper; plain global pooling does. Ours."""
    norm_momentum: float = 0.1
    """A paper's tower: share of each batch in batch norms' running figures; open in the paper. Ours."""
    dropout: float = 0.0
    """Share of activations dropped while training; the paper names none. CSC names none."""
    dropouts: dict[Tower, float] = {"whisper": 0.5, "text": 0.5}
    """Speech tower → ``dropout`` of both towers in its rows, where it is another. Ours."""
    layers: int = 3
    """Convolutions of a light speech tower. Ours."""
    channels: int = 192
    """Channels of a light tower's convolutions. Ours."""
    width: int = 768
    """Hidden layer of whisper and text. Ours."""

    def of_row(self, tower: str) -> dict[str, Any]:
        """Return the plain settings of the rows that name this speech tower; empty for those that name none."""
        plain = self.plain()
        dropouts, speech = plain.pop("dropouts"), tower or self.speech
        if not self.ear or speech != "whisper":
            # Results without it stay valid.
            del plain["ear"]
        return plain | {"speech": speech, "dropout": dropouts.get(speech, self.dropout)}


class Clips(Settings):
    """What a clip goes through (CSC, section 4.1)."""

    frames: Positive = 350
    """Length in frames of 10 ms that clips are cropped or padded to. CSC §4.2: 350 (3.5 s)."""
    mask_coefficients: NotNegative = 20
    """SpecAugment's F. CSC §4.1: 20."""
    mask_frames: NotNegative = 40
    """SpecAugment's T. CSC §4.1: 40."""
    held: NotNegative = 2000
    """MB of coefficients that each process keeps, as many of training and validation each, so that they are computed in the first
    epoch alone; 0, for sets that would not fit, computes only the frames in use. Kept ones are in half precision. Ours."""


class Loss(Settings):
    """The loss (CSC, equations 2 to 6)."""

    margin: Amount = 0.001
    """Masked margin softmax: δ at step 0. CSC §4.1: .001."""
    margin_factor: Amount = 1.002
    """What δ grows by. CSC §4.1: 1.002 every 1000 steps."""
    margin_every: Positive = 1000
    """Steps from one growth of δ to the next. CSC §4.1: 1000."""
    triplet_margin: Amount = 1.0
    """δ of the triplet loss. Ours, as Harwath et al. 2018; open in CSC §3."""
    scope: Literal["global", "device"] = "global"
    """With several devices: negatives of the whole batch, or of each device's part; open in the paper. Ours."""
    matching: list[Matching] = ["image"]
    """What makes x_i match y_j (equation 2): the same image, the same caption, a near-duplicate image; any of these, and
    whatever follows from them, for matching is transitive. CSC §3, eq. 2: the same image."""


class DualEncoderSettings(Settings):
    """All that one model's training depends on, but for its row, its seed and its data."""

    optimisation: Optimisation = Optimisation()
    """How it is optimised; the row gives the batch size."""
    clips: Clips = Clips()
    """What a clip goes through."""
    loss: Loss = Loss()
    """The loss; the row names which."""

    def check(self, where: str) -> None:
        """Require a batch with negatives, and what matches."""
        if self.optimisation.batch < 2:
            raise HearsightError(f"is {self.optimisation.batch}", where=f"{where}.optimisation.batch", hint="set it to 2 or more")
        if not self.loss.matching:
            raise HearsightError("names nothing", where=f"{where}.loss.matching", hint="write at least [image]")


class FineTuning(Optimisation):
    """How a model is fitted to human speech (CSC §4.3)."""

    epochs: Positive = 14
    """Passes over the training items. Ours; CSC §4.3 names none."""


class LongClips(Clips):
    """What a clip of human speech goes through."""

    frames: Positive = 800
    """10 ms each: what a clip is cropped or padded to. CSC §4.3: 800 (8 s)."""


class FineTuningSettings(DualEncoderSettings):
    """All that fine-tuning depends on, but for its row, its seed and its data."""

    optimisation: FineTuning = FineTuning()
    """How it is optimised."""
    clips: LongClips = LongClips()
    """What a clip goes through."""


def read_row(row: str, kinds: list[str], unit: str, where: str, most: int = 1_000_000) -> tuple[str, str, int]:
    """Return tower, kind and number of a row name ``<kind>-<number>`` or ``<tower>-<kind>-<number>``.

    The tower is empty if the row names none; the number is 1 to ``most``, without leading zeros.

    Raises:
        HearsightError: it is no such row.
    """
    tower, kind, number = split_row(row)
    known = kind in kinds and tower in ("", *get_args(Tower))
    known = known and number.isascii() and number.isdecimal() and not number.startswith("0")
    if not known or int(number) > most:
        what = f"'{row}' is no row: it needs one of {', '.join(kinds)}, a hyphen and {unit}; before them a speech tower may stand"
        raise HearsightError(what, where=where, hint=f"write for example {kinds[-1]}-{48 if unit.startswith('a batch') else 100}")
    return tower, kind, int(number)


def split_row(row: str) -> tuple[str, str, str]:
    """Return a row's tower, empty if it names none, its kind and its number."""
    name, _, number = row.rpartition("-")
    tower, _, kind = name.rpartition("-")
    return tower, kind, number


def hears(row: str) -> bool:
    """Return whether the models of a row, or a model by its key, hear speech; those of ``text`` read true words."""
    return not row.startswith("text-")
