"""T2T1x1 and T2T8x8: a Transformer from image embeddings to words (CC §4.2 and §5.2).

CC uses "the default setup from (Vaswani et al., 2017)", N = 6, width 512, 8 heads. The rest follows that paper:

- Layer norm follows each residual sum (section 3.1 there), with none on top of a stack. ``pre_norm`` puts it before each
  sub-layer and adds one on top, which is more stable without a warm-up; CC names no warm-up, but no change of the default either.
- Query, key, value and head projections have no bias (equations in section 3.2.2); feed-forward layers do (equation 2).
- Word vectors are multiplied by the square root of the width (section 3.4). Image embeddings are not: they come from a linear
  layer with a bias that maps the features to the network's width; neither paper names one.
- Dropout applies to each sub-layer's output and to the sums of embeddings and positions (section 5.4), not to attention weights.
- Positions are added to a single image embedding too (position 0); it is the same constant for every image.

Weights are initialised as Xavier uniform, word vectors as normal with deviation width^-1/2; neither paper names either.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from components.models.captioners.interface import CaptionerConfig, CaptionNetwork
from components.models.packed_linear import Tied


def sinusoids(length: int, width: int) -> Tensor:
    """Return the sinusoidal positions of Vaswani et al. (2017, section 3.5), length × width, sines in even columns."""
    position = torch.arange(length, dtype=torch.float32)[:, None]
    speed = torch.exp(torch.arange(0, width, 2, dtype=torch.float32) * (-math.log(10_000.0) / width))[None]
    signal = torch.zeros(length, width)
    signal[:, 0::2], signal[:, 1::2] = torch.sin(position * speed), torch.cos(position * speed)[:, : width // 2]
    return signal


class Attention(nn.Module):
    """Multi-head scaled dot-product attention (Vaswani et al. 2017, section 3.2)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(width, 2 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        for matrix in (self.query.weight, *self.key_value.weight.chunk(2), self.out.weight):
            nn.init.xavier_uniform_(matrix)

    def split(self, x: Tensor) -> Tensor:
        """Return B × n × width as B × heads × n × d."""
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)

    def keys_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values of B × n × width, B × heads × n × d each."""
        key, value = self.key_value(x).chunk(2, dim=2)
        return self.split(key), self.split(value)

    def forward(self, x: Tensor, keys_values: tuple[Tensor, Tensor], *, causal: bool = False) -> Tensor:
        """Attend from N × n × width to ``keys_values`` of B images; return N × n × width.

        An image's N / B rows become one longer row of queries, so that keys and values are not copied.
        """
        rows, length = x.shape[:2]
        query = self.split(self.query(x).view(len(keys_values[0]), -1, x.shape[2]))
        attended = F.scaled_dot_product_attention(query, *keys_values, is_causal=causal)
        return self.out(attended.transpose(1, 2).reshape(rows, length, -1))


class Layer(nn.Module):
    """Self-attention, cross-attention in a decoder, feed-forward; each with residual sum and norm."""

    def __init__(self, config: CaptionerConfig, *, decodes: bool) -> None:
        super().__init__()
        width = config.width
        self.pre_norm = config.pre_norm
        self.itself = Attention(width, config.heads)
        self.across = Attention(width, config.heads) if decodes else None
        self.inner, self.outer = nn.Linear(width, config.feedforward), nn.Linear(config.feedforward, width)
        for layer in (self.inner, self.outer):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if decodes else 2))
        self.dropout = nn.Dropout(config.dropout)

    def image_keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Return the cross-attention keys and values of the encoder's output."""
        assert self.across is not None, "only decoder layers attend to the images"
        return self.across.keys_values(memory)

    def forward(self, x: Tensor, itself: Callable[[Tensor], Tensor], memory: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """Map N × n × width to the same shape; ``itself`` computes self-attention, ``memory`` holds the images' keys and
        values."""
        x = self._sublayer(0, x, itself)
        if self.across is not None and memory is not None:
            across = self.across
            x = self._sublayer(1, x, lambda query: across(query, memory))
        return self._sublayer(-1, x, lambda y: self.outer(F.relu(self.inner(y))))

    def _sublayer(self, index: int, x: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        norm = self.norms[index]
        if self.pre_norm:
            return x + self.dropout(function(norm(x)))
        normed: Tensor = norm(x + self.dropout(function(x)))
        return normed


def _layers(stack: nn.ModuleList) -> list[Layer]:
    return cast(list[Layer], list(stack))


@dataclass
class State:
    """Decoding state; ``length`` words have been read."""

    across: list[tuple[Tensor, Tensor]]
    """Keys and values of the images, a layer, B × heads × L × d; shared by an image's rows and never moved."""
    past: Tensor
    """Keys and values of the words read: (longest + 1) × N × layers × 2 · width. Time is the first axis, so that adding a
    word and moving rows are single copies of contiguous memory for all layers."""
    spare: Tensor
    """Target buffer of :meth:`TransformerCaptioner.reorder`; swapped with ``past``."""
    length: int = 0


class TransformerCaptioner(CaptionNetwork):
    """T2T1x1 and T2T8x8. The memory is the encoder's output, B × L × width."""

    positions: Tensor

    def __init__(self, config: CaptionerConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        if width % config.heads:
            raise ValueError(f"width {width} is not divisible by {config.heads} heads")
        self.read = nn.Linear(config.image_features, width)
        self.embedding = nn.Embedding(config.vocabulary, width)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.encoder = nn.ModuleList(Layer(config, decodes=False) for _ in range(config.layers))
        self.decoder = nn.ModuleList(Layer(config, decodes=True) for _ in range(config.layers))
        self.encoder_norm, self.decoder_norm = (nn.LayerNorm(width) if config.pre_norm else nn.Identity() for _ in range(2))
        self.scores = Tied("embedding.weight")
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("positions", sinusoids(max(config.longest + 1, 64), width), persistent=False)

    def encode(self, features: Tensor) -> Tensor:
        """Return the memory B × L × width of B × L × F features.

        Raises:
            ValueError: the features have the wrong width, or a 1x1 network gets a grid.
        """
        width = self.config.image_features
        if features.dim() != 3 or features.shape[2] != width or not (self.config.grid or features.shape[1] == 1):
            shape = " × ".join(["images", "cells" if self.config.grid else "1", str(width)])
            raise ValueError(f"{self.config.network} reads {shape} features, not {' × '.join(map(str, features.shape))}")
        hidden, cells = self.read(features), features.shape[1]
        precomputed = cells <= len(self.positions)
        positions = self.positions[:cells] if precomputed else sinusoids(cells, self.config.width).to(hidden)
        hidden = self.dropout(hidden + positions)
        for layer in _layers(self.encoder):
            hidden = layer(hidden, lambda x, attention=layer.itself: attention(x, attention.keys_values(x)))
        encoded: Tensor = self.encoder_norm(hidden)
        return encoded

    def decode(self, memory: Tensor, words: Tensor) -> Tensor:
        """Return the scores of the word after each of ``words`` (N × t, START first), N × t × V, with causal self-attention."""
        hidden = self._embedded(words, slice(0, words.shape[1]))
        for layer in _layers(self.decoder):
            hidden = layer(
                hidden,
                lambda x, attention=layer.itself: attention(x, attention.keys_values(x), causal=True),
                layer.image_keys_values(memory),
            )
        return self._scores(hidden)

    def start(self, memory: Tensor, rows: int) -> State:
        """Return the state before the first word, with the images' keys and values."""
        both = [layer.image_keys_values(memory) for layer in _layers(self.decoder)]
        across = [(key.contiguous(), value.contiguous()) for key, value in both]
        shape = (self.config.longest + 1, len(memory) * rows, self.config.layers, 2 * self.config.width)
        # Steps compute in the dtype of these keys (under autocast not the memory's).
        past, spare = (across[0][0].new_empty(shape) for _ in range(2))
        return State(across, past, spare)

    def step(self, state: State, words: Tensor) -> Tensor:
        """Return the scores of the word after ``words`` (N), N × V, and add its keys and values to the state."""
        now = state.length
        state.length += 1
        hidden = self._embedded(words[:, None], slice(now, now + 1))
        for number, layer in enumerate(_layers(self.decoder)):
            past = state.past[: state.length, :, number]

            def itself(x: Tensor, attention: Attention = layer.itself, past: Tensor = past) -> Tensor:
                past[now] = attention.key_value(x[:, 0])
                key, value = past.unflatten(2, (2, attention.heads, -1)).permute(2, 1, 3, 0, 4)
                return attention(x, (key, value))

            hidden = layer(hidden, itself, state.across[number])
        return self._scores(hidden)[:, 0]

    def reorder(self, state: State, rows: Tensor) -> None:
        """Move rows of the words' keys and values; the images' stay."""
        used = state.length
        torch.index_select(state.past[:used], 1, rows, out=state.spare[:used])
        state.past, state.spare = state.spare, state.past

    def _embedded(self, words: Tensor, positions: slice) -> Tensor:
        if positions.stop > self.config.longest + 1:
            raise ValueError(f"{positions.stop} words to read, more than START and the maximum of {self.config.longest}")
        return self.dropout(self.embedding(words) * math.sqrt(self.config.width) + self.positions[positions])

    def _scores(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self.scores(self.decoder_norm(hidden), self.embedding.weight)
        return logits
