"""T2T1x1 and T2T8x8: a Transformer over image embeddings that writes words (CC, sections 4.2 and 5.2).

The seed takes "the default setup from (Vaswani et al., 2017)", N = 6, width 512, 8 heads; what it leaves open is taken
from that paper:

- Layer norm comes after each residual sum (section 3.1 there), and there is none on top of a stack. ``pre_norm`` puts it before
  each sub-layer and one on top, which is steadier without a warm-up; the seed names no warm-up, but no change of the default.
- Projections of queries, keys, values and heads have no bias (equations in section 3.2.2), feed-forward layers have (equation 2).
- Word vectors are multiplied by the square root of the width (section 3.4). Image embeddings are not: they are no table's rows
  but what a linear layer with a bias makes of the features, from their width to the network's; neither paper names one.
- Dropout is on each sub-layer's output and on embeddings with their positions added (section 5.4), not on attention weights.
- Positions are added to a single image embedding too (position 0); it is the same constant for every picture.

Weights begin as Xavier's uniform ones, word vectors as normal ones of deviation width^-1/2, as neither paper says.
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
from components.models.packed import Tied


def sinusoids(length: int, width: int) -> Tensor:
    """Sine and cosine position signals (Vaswani et al. 2017, section 3.5), length × width, sines on even places."""
    place = torch.arange(length, dtype=torch.float32)[:, None]
    speed = torch.exp(torch.arange(0, width, 2, dtype=torch.float32) * (-math.log(10_000.0) / width))[None]
    signal = torch.zeros(length, width)
    signal[:, 0::2], signal[:, 1::2] = torch.sin(place * speed), torch.cos(place * speed)[:, : width // 2]
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
        """B × n × width → B × heads × n × d."""
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)

    def answers(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of B × n × width, B × heads × n × d each."""
        key, value = self.key_value(x).chunk(2, dim=2)
        return self.split(key), self.split(value)

    def forward(self, x: Tensor, answers: tuple[Tensor, Tensor], *, causal: bool = False) -> Tensor:
        """N × n × width asks ``answers`` of B pictures → N × n × width.

        The N / B rows of a picture become one longer row of queries, so that keys and values are read where they are.
        """
        rows, length = x.shape[:2]
        asking = self.split(self.query(x).view(len(answers[0]), -1, x.shape[2]))
        found = F.scaled_dot_product_attention(asking, *answers, is_causal=causal)
        return self.out(found.transpose(1, 2).reshape(rows, length, -1))


class Layer(nn.Module):
    """Self-attention, cross-attention when it decodes, feed-forward; each with its residual sum and norm."""

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

    def pictures(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """The keys and values that a decoder's layer asks, of the encoder's output."""
        assert self.across is not None, "only a decoder's layers look at the pictures"
        return self.across.answers(memory)

    def forward(self, x: Tensor, itself: Callable[[Tensor], Tensor], memory: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """N × n × width → the same; ``itself`` is its self-attention, ``memory`` the pictures' keys and values for it."""
        x = self._sublayer(0, x, itself)
        if self.across is not None and memory is not None:
            across = self.across
            x = self._sublayer(1, x, lambda asking: across(asking, memory))
        return self._sublayer(-1, x, lambda y: self.outer(F.relu(self.inner(y))))

    def _sublayer(self, place: int, x: Tensor, work: Callable[[Tensor], Tensor]) -> Tensor:
        norm = self.norms[place]
        if self.pre_norm:
            return x + self.dropout(work(norm(x)))
        added: Tensor = norm(x + self.dropout(work(x)))
        return added


def _layers(stack: nn.ModuleList) -> list[Layer]:
    return cast(list[Layer], list(stack))


@dataclass
class State:
    """What decoding keeps between words; ``length`` words have been read."""

    across: list[tuple[Tensor, Tensor]]
    """Keys and values of the pictures for each layer, B × heads × L × d: one for all rows of a picture, never moved."""
    past: Tensor
    """Keys and values of the words read: (longest + 1) × N × layers × 2 · width. Time comes first, so that writing a word
    and moving rows of the part in use are single copies of long stretches, for all layers at once."""
    spare: Tensor
    """Where :meth:`TransformerCaptioner.reorder` moves rows to; the two take turns."""
    length: int = 0


class TransformerCaptioner(CaptionNetwork):
    """T2T1x1 and T2T8x8. The memory is the encoder's output, B × L × width."""

    positions: Tensor

    def __init__(self, config: CaptionerConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        if width % config.heads:
            raise ValueError(f"a width of {width} cannot be shared by {config.heads} heads")
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
        """B × L × F → B × L × width.

        Raises:
            ValueError: the features have another width, or a 1x1 network is given a grid.
        """
        wanted = self.config.image_features
        if features.dim() != 3 or features.shape[2] != wanted or not (self.config.grid or features.shape[1] == 1):
            shape = " × ".join(["pictures", "cells" if self.config.grid else "1", str(wanted)])
            raise ValueError(f"{self.config.network} reads {shape} features, not {' × '.join(map(str, features.shape))}")
        hidden, cells = self.read(features), features.shape[1]
        known = cells <= len(self.positions)
        places = self.positions[:cells] if known else sinusoids(cells, self.config.width).to(hidden)
        hidden = self.dropout(hidden + places)
        for layer in _layers(self.encoder):
            hidden = layer(hidden, lambda x, own=layer.itself: own(x, own.answers(x)))
        found: Tensor = self.encoder_norm(hidden)
        return found

    def decode(self, memory: Tensor, words: Tensor) -> Tensor:
        """Scores of the word after each of ``words`` (N × t, START first): N × t × V; self-attention is masked to the right."""
        hidden = self._embedded(words, slice(0, words.shape[1]))
        for layer in _layers(self.decoder):
            hidden = layer(hidden, lambda x, own=layer.itself: own(x, own.answers(x), causal=True), layer.pictures(memory))
        return self._scores(hidden)

    def start(self, memory: Tensor, rows: int) -> State:
        """The state before the first word; the pictures' keys and values are computed here, once."""
        both = [layer.pictures(memory) for layer in _layers(self.decoder)]
        across = [(key.contiguous(), value.contiguous()) for key, value in both]
        shape = (self.config.longest + 1, len(memory) * rows, self.config.layers, 2 * self.config.width)
        # What a step computes has the type of what was computed here (under autocast not that of the memory).
        past, spare = (across[0][0].new_empty(shape) for _ in range(2))
        return State(across, past, spare)

    def step(self, state: State, words: Tensor) -> Tensor:
        """Scores of the word after ``words`` (N): N × V; the words' keys and values join the state."""
        now = state.length
        state.length += 1
        hidden = self._embedded(words[:, None], slice(now, now + 1))
        for number, layer in enumerate(_layers(self.decoder)):
            past = state.past[: state.length, :, number]

            def itself(x: Tensor, own: Attention = layer.itself, past: Tensor = past) -> Tensor:
                past[now] = own.key_value(x[:, 0])
                key, value = past.unflatten(2, (2, own.heads, -1)).permute(2, 1, 3, 0, 4)
                return own(x, (key, value))

            hidden = layer(hidden, itself, state.across[number])
        return self._scores(hidden)[:, 0]

    def reorder(self, state: State, rows: Tensor) -> None:
        """Move rows of the words' keys and values; nothing of the pictures'."""
        used = state.length
        torch.index_select(state.past[:used], 1, rows, out=state.spare[:used])
        state.past, state.spare = state.spare, state.past

    def _embedded(self, words: Tensor, places: slice) -> Tensor:
        if places.stop > self.config.longest + 1:
            raise ValueError(f"{places.stop} signs to read, and the longest caption has {self.config.longest} after START")
        return self.dropout(self.embedding(words) * math.sqrt(self.config.width) + self.positions[places])

    def _scores(self, hidden: Tensor) -> Tensor:
        found: Tensor = self.scores(self.decoder_norm(hidden), self.embedding.weight)
        return found
