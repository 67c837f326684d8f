"""Speech towers that pool vectors made elsewhere: ``whisper`` over a frozen encoder's states, ``text`` over a caption's words.

The pooled vector has the mean, deviation and maximum of a clip's own vectors, a weighted mean for each trained query (attention
pooling), and the mean and maximum of trained detectors, a convolution over three vectors: the maximum says whether a word occurs,
wherever it does. It is brought to one scale by the training set's statistics, since the means of two clips differ far less
than two states of one, and a perceptron with one hidden layer maps it to the embedding. ``text`` hears nothing: it is the upper
bound of what hearing could reach, and recognised words are read by it, too.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from components.models.towers import SpeechTower, by_length, inside

CHANNELS = 512
"""Width of Whisper base's encoder (Radford et al. 2022, table 1), and of the vectors of words; other encoders have their own."""
QUERIES = 4
DETECTORS = 1024
SPAN = 3
"""Vectors that a detector sees: 240 ms of Whisper's averaged states, about a word."""
LEAST_VARIANCE = 1e-5
"""Added to a variance, since the root has no gradient at 0: that of a clip of one vector."""


class PooledSpeech(SpeechTower):
    """Attentive, mean, deviation and maximum pooling over vectors and detectors, then a perceptron."""

    cpu_batch = 64

    def __init__(self, rows: int, embedding: int, dropout: float, width: int, channels: int = CHANNELS) -> None:
        super().__init__(rows)
        # No bias: softmax is invariant to it.
        self.queries = nn.Linear(channels, QUERIES, bias=False)
        self.detectors = nn.Conv1d(channels, DETECTORS, SPAN, padding=SPAN // 2)
        self.norm = nn.LayerNorm(DETECTORS)
        pooled = (QUERIES + 3) * channels + 2 * DETECTORS
        self.layers = nn.Sequential(
            nn.BatchNorm1d(pooled, affine=False),
            nn.Dropout(dropout),
            nn.Linear(pooled, width),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(width, embedding),
        )

    @abstractmethod
    def vectors(self, features: Tensor) -> Tensor:
        """Map B × rows × T to vectors, B × T × channels."""

    def embed(self, features: Tensor, lengths: Tensor) -> Tensor:
        return self.layers(by_length(self.pool, features, lengths))

    def pool(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Map B × rows × T to the pooled vectors, B × their width."""
        own = inside(features, lengths)[:, :, None]
        # Zeros after the end, so that what a detector sees there does not depend on the padding.
        vectors = self.vectors(features).masked_fill(~own, 0.0)
        weights = self.queries(vectors).masked_fill(~own, float("-inf")).softmax(1)
        attended = torch.einsum("btc,btq->bqc", vectors, weights.to(vectors.dtype)).flatten(1)
        share = own.to(vectors.dtype) / lengths[:, None, None]
        mean = (vectors * share).sum(1)
        variance = ((vectors - mean[:, None]).square() * share).sum(1)
        peaks = vectors.masked_fill(~own, float("-inf")).amax(1)
        found = F.relu(self.norm(self.detectors(vectors.transpose(1, 2)).transpose(1, 2)))
        detected = [(found * share).sum(1), found.masked_fill(~own, 0.0).amax(1)]
        return torch.cat([attended, mean, (variance + LEAST_VARIANCE).sqrt(), peaks, *detected], dim=1)


class StateSpeech(PooledSpeech):
    """Over the states of a frozen speech encoder, its width × states."""

    reads = "states"

    def __init__(self, embedding: int, dropout: float, *, width: int, states: int = CHANNELS) -> None:
        super().__init__(states, embedding, dropout, width, states)

    def vectors(self, features: Tensor) -> Tensor:
        return features.transpose(1, 2)


class TextSpeech(PooledSpeech):
    """Over the words of a caption as numbers, 1 × words: 0 is an unknown word, others are counted from 1 in ``vocabulary``."""

    reads = "words"

    def __init__(self, embedding: int, dropout: float, *, width: int, vocabulary: tuple[str, ...]) -> None:
        super().__init__(1, embedding, dropout, width)
        self.vocabulary = vocabulary
        self.words = nn.Embedding(len(vocabulary) + 1, CHANNELS)

    def vectors(self, features: Tensor) -> Tensor:
        return self.words(features[:, 0].long())
