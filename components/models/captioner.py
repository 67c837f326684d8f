"""A small Transformer that writes a caption for a grid of frozen image features (seed 000, section 4.2).

Encoder and decoder stacks, sinusoidal positions, one embedding matrix for input and output words. The paper's T2T8x8
is N=6, width 512, 8 heads over an 8×8 grid trained end to end (mission C10, a later issue); the sizes come from the
configuration.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

PAD, START, END, UNKNOWN = 0, 1, 2, 3
SPECIAL = ("<PAD>", "<S>", "</S>", "<UNK>")
"""The first four entries of every vocabulary."""


@dataclass(frozen=True)
class CaptionerConfig:
    """All that is needed to build the network again."""

    vocabulary: int
    image_features: int = 1280
    width: int = 128
    heads: int = 4
    layers: int = 2
    dropout: float = 0.3
    longest: int = 15
    """Words of a caption at most; the end sign comes on top."""

    def plain(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)


def sinusoids(length: int, width: int) -> Tensor:
    """Sine and cosine position signals (Vaswani et al. 2017, section 3.5), length × width."""
    place = torch.arange(length, dtype=torch.float32)[:, None]
    speed = torch.exp(torch.arange(0, width, 2, dtype=torch.float32) * (-math.log(10_000.0) / width))[None]
    signal = torch.zeros(length, width)
    signal[:, 0::2], signal[:, 1::2] = torch.sin(place * speed), torch.cos(place * speed)[:, : width // 2]
    return signal


class Attention(nn.Module):
    """Multi-head scaled dot-product attention."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, asking: Tensor, answering: Tensor, mask: Tensor | None = None) -> Tensor:
        """B × n × width asks B × m × width; ``mask`` n × m is True where attention is allowed."""
        query, key, value = (
            layer(x).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for layer, x in ((self.query, asking), (self.key, answering), (self.value, answering))
        )
        weights = query @ key.transpose(2, 3) / math.sqrt(query.shape[3])
        if mask is not None:
            weights = weights.masked_fill(~mask, float("-inf"))
        return self.out((weights.softmax(3) @ value).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Self-attention, cross-attention when it decodes, feed-forward; norms before each (steadier without warm-up)."""

    def __init__(self, config: CaptionerConfig, *, decodes: bool) -> None:
        super().__init__()
        width = config.width
        self.itself = Attention(width, config.heads)
        self.across = Attention(width, config.heads) if decodes else None
        self.forward_net = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if decodes else 2))
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, memory: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        """B × n × width → the same; ``memory`` is the encoder's output."""
        inner = self.norms[0](x)
        x = x + self.dropout(self.itself(inner, inner, mask))
        if self.across is not None and memory is not None:
            x = x + self.dropout(self.across(self.norms[1](x), memory))
        return x + self.dropout(self.forward_net(self.norms[-1](x)))


class Captioner(nn.Module):
    """Image features in, word scores out."""

    def __init__(self, config: CaptionerConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.read = nn.Sequential(
            nn.LayerNorm(config.image_features), nn.Dropout(config.dropout), nn.Linear(config.image_features, width)
        )
        self.encoder = nn.ModuleList(Layer(config, decodes=False) for _ in range(config.layers))
        self.encoder_norm = nn.LayerNorm(width)
        self.embedding = nn.Embedding(config.vocabulary, width, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.decoder = nn.ModuleList(Layer(config, decodes=True) for _ in range(config.layers))
        self.decoder_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(config.dropout)

    def encode(self, features: Tensor) -> Tensor:
        """B × regions × image features → B × regions × width."""
        hidden = self.read(features)
        hidden = self.dropout(hidden + sinusoids(hidden.shape[1], hidden.shape[2]))
        for layer in self.encoder:
            hidden = layer(hidden)
        return self.encoder_norm(hidden)

    def decode(self, memory: Tensor, words: Tensor) -> Tensor:
        """Scores of the word after each of ``words`` (B × t): B × t × vocabulary. The output matrix is the embedding."""
        length, width = words.shape[1], self.config.width
        hidden = self.dropout(self.embedding(words) * math.sqrt(width) + sinusoids(length, width))
        past = torch.ones(length, length, dtype=torch.bool).tril()
        for layer in self.decoder:
            hidden = layer(hidden, memory, past)
        return self.decoder_norm(hidden) @ self.embedding.weight.T

    def loss(self, features: Tensor, words: Tensor, smoothing: float = 0.0) -> Tensor:
        """Mean cross-entropy a word of ``words`` (B × t: START, words, END, PAD …)."""
        scores = self.decode(self.encode(features), words[:, :-1])
        return F.cross_entropy(scores.flatten(0, 1), words[:, 1:].flatten(), ignore_index=PAD, label_smoothing=smoothing)
