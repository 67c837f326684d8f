"""What the GPU run trains on: the sizes of a run, a pack on the device, captions and their scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.gpu_networks import Captioner, lite0_encoder, random_views, whole_views
from benchmarks.gpu_pack import ENCODER_SIDE, SPLITS, Pack, decode
from benchmarks.gpu_reward import CiderRewards
from components.metrics.captions import score_captions
from components.metrics.ngram_table import NgramTable
from components.metrics.ptb import ptb_tokenize, split_multiword_tokens
from components.models.beam import generate
from components.models.captioners.ensemble import Ensemble
from components.models.captioners.interface import CaptionerConfig, CaptionNetwork
from components.models.encoders import ImageEncoder

SCORES = ("cider_d", "bleu_4", "rouge_l")
BEAM = 5


@dataclass(frozen=True)
class Phase:
    """Settings of a phase; the learning rate warms up and then falls to 0 as the phase's time passes."""

    name: str
    share: float
    """Of a model's time."""
    rate: float
    """Learning rate of the captioning network."""
    encoder_rate: float = 0.0
    """Learning rate of the encoder; 0: it is frozen."""
    samples: int = 0
    """Captions drawn for each image; 0: cross-entropy."""


@dataclass(frozen=True)
class Plan:
    """Sizes of a run."""

    side: int = ENCODER_SIDE
    seeds: tuple[int, ...] = (0, 1, 2)
    views: int = 6
    """Views of each training image in the phase ``frozen``, the whole image among them."""
    batch: int = 128
    """Images a step; an image has its five captions."""
    evaluated: int = 500
    """Images that are encoded or captioned together."""
    steps: int = 100_000
    """Steps of a phase at most; its time ends it before."""
    most: int | None = None
    """Images of each split, at most."""
    checks: int = 2
    """Validations of a phase."""
    width: int = 384
    recurrent_width: int = 512
    heads: int = 6
    layers: int = 2
    feedforward: int = 1024
    dropout: float = 0.3
    smoothing: float = 0.1
    weight_decay: float = 0.01
    average: float = 0.99
    """Weight of the past in the mean of weights, a step."""
    phases: tuple[Phase, ...] = (
        Phase("frozen", 0.2, 6e-4),
        Phase("fine", 0.35, 3e-4, encoder_rate=5e-5),
        Phase("critical", 0.45, 1e-4, encoder_rate=1e-5, samples=5),
    )

    def config(self, network: str, vocabulary: int) -> CaptionerConfig:
        """Return the network's configuration."""
        sizes: dict[str, Any] = {"heads": self.heads, "layers": self.layers, "feedforward": self.feedforward, "pre_norm": True}
        width = self.recurrent_width if network.startswith("rnn") else self.width
        return CaptionerConfig(network, vocabulary, image_features=1280, width=width, dropout=self.dropout, **sizes)


_FEW: dict[str, Any] = {"seeds": (0, 1), "views": 2, "batch": 4, "evaluated": 8, "steps": 3, "most": 12, "checks": 1}
TINY = Plan(side=64, width=32, recurrent_width=32, heads=2, layers=1, feedforward=64, **_FEW)
"""The whole run in seconds on a processor."""


@dataclass
class Data:
    """A pack on the device."""

    pack: Pack
    plan: Plan
    device: torch.device
    memory_format: torch.memory_format = torch.channels_last
    """Of the encoder's activations; the faster one depends on the device."""

    def __post_init__(self) -> None:
        self.rows = {split: self.pack.rows(split, self.plan.most) for split in SPLITS}
        self.pixels = {split: self._pixels(rows) for split, rows in self.rows.items()}
        config = self.plan.config("t2t8x8", self.pack.vocabulary)
        training = self.rows["train"]
        self.captions = torch.from_numpy(self.pack.inputs(config.longest)[training]).to(self.device)
        self.reward = CiderRewards(torch.from_numpy(self.pack.numbers[training][:, :, 1:]).to(self.device), len(self.pack.words))

    def _pixels(self, rows: NDArray[np.int64]) -> Tensor:
        return decode([self.pack.images[row] for row in rows], cores()).to(self.device)

    def encoder(self) -> ImageEncoder:
        """Return the encoder with its packed weights."""
        return lite0_encoder(self.pack.weights, self.plan.side).to(self.device).to(memory_format=self.memory_format)

    @cached_property
    def features(self) -> Tensor:
        """Views × training images × (1 + cells) × F of the untrained encoder, in half precision; the first view is the image."""
        encoder = self.encoder()
        pixels = self.pixels["train"]
        return torch.stack([self.encode(encoder, pixels, distorted=bool(view)) for view in range(self.plan.views)])

    def encode(self, encoder: ImageEncoder, pixels: Tensor, *, distorted: bool = False) -> Tensor:
        """Return the encoder's vectors of all images, n × (1 + cells) × F, in half precision."""
        parts = []
        with torch.no_grad(), autocast(self.device):
            for part in pixels.split(self.plan.evaluated):
                views = random_views(part, self.plan.side) if distorted else whole_views(part, self.plan.side)
                parts.append(encoder.encode(views).half())
        return torch.cat(parts)

    @cached_property
    def references(self) -> dict[str, NgramTable]:
        """The references of validation and test, counted once, by split."""
        captions = self.pack.captions
        return {
            split: NgramTable.of([[tokenized(text) for text in captions[row]] for row in self.rows[split]])
            for split in ("validation", "test")
        }


def cores() -> int:
    """Return the processor's cores that this process may use."""
    return len(os.sched_getaffinity(0))


def autocast(device: torch.device, enabled: bool = True) -> torch.autocast:
    """Return the context in which networks compute in bfloat16, on a GPU."""
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled and device.type == "cuda")


def tokenized(caption: str) -> list[str]:
    """Return a caption's Penn Treebank tokens."""
    return split_multiword_tokens(ptb_tokenize(caption))


def vectors(data: Data, model: Captioner, split: str) -> Tensor:
    """Return the network's input for all images of a split, n × L × F in half precision."""
    return model.choose(data.encode(model.encoder, data.pixels[split]))


def texts(pack: Pack, captions: Sequence[Sequence[int]]) -> list[str]:
    """Return captions as text."""
    return [" ".join(pack.words[word] for word in caption) for caption in captions]


def write_captions(data: Data, models: Sequence[Captioner], split: str) -> list[str]:
    """Return the captions by beam search of one captioner, or of several as an ensemble, in float32."""
    network: CaptionNetwork = models[0].network if len(models) == 1 else Ensemble([model.network for model in models])
    features = torch.cat([vectors(data, model, split) for model in models], -1).float()
    return texts(data.pack, [best.words for best, *_ in generate(network, features, beam=BEAM, batch=data.plan.evaluated)])


def scores_of(data: Data, captions: Sequence[str], split: str) -> dict[str, float]:
    """Return the scores of a split's captions, and how many different words they have."""
    words = [tokenized(caption) for caption in captions]
    found = score_captions(words, data.references[split]).corpus
    return {name: round(found[name], 4) for name in SCORES} | {"different words": len({word for one in words for word in one})}
