"""AoANet: attention on attention (Huang et al. 2019), the captioner of PCV §5.4.

    AoA(q, v̂) = σ(W_g [v̂; q] + b_g) ⊙ (W_i [v̂; q] + b_i)          (section 3.1; v̂ is the attention result for q)

Plain attention always returns some mean of the values; the gate lets the network use less of it where it does not match the
query. Six such layers refine the image's vectors (section 3.2.1). The decoder (section 3.2.2) is an LSTM whose hidden state
queries the refined vectors a_i; the result is its context c_t:

    h_t, m_t = LSTM([w_t; ā + c_{t-1}], h_{t-1}, m_{t-1}),  c_t = AoA(h_t, Attention(h_t, A)),  p(y_t) = softmax(W_p c_t)

The paper reads detected regions; here each grid cell is one. Neither the mean nor attention depends on their order, so the
network has no positions beyond what the features encode, as in the paper.

Where the authors' program, which produced the published figures, differs from the paper's equations, this module follows the
program: layer norms precede each refining layer, with one after the last (the paper: after each); the gate's query is the normed
vector and not its projection; the decoder's query is normed for attention, not for the gate; a ReLU follows the image
projection.

Our choices: W_p is the word matrix (tied, as in CC; hence no bias, and no ReLU after input words), and all dropout positions
of the program (attention weights, AoA input in the refiner, residuals, projected images, words, contexts) share the one
configured rate (there .1, .3 and .5). The paper's sizes: width 1024, 2048 features, 8 heads, 6 refining layers; the decoder
always has one layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from components.models.captioners.interface import CaptionerConfig, CaptionNetwork
from components.models.captioners.parts import TiedWords, check_features, open_forget_gates, rows_an_image


class AoA(nn.Module):
    """Attention on attention: gates an attention result by that result and its query. One matrix holds both maps."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.both = nn.Linear(2 * width, 2 * width)

    def forward(self, attended: Tensor, query: Tensor) -> Tensor:
        """Map … × width each to … × width. The first half of the matrix gives the information, the second its gate."""
        return F.glu(self.both(torch.cat([attended, query], dim=-1)), dim=-1)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Return B × n × width as B × heads × n × width/heads."""
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """Return B × heads × n × width/heads as B × n × width; no output projection, since AoA replaces it."""
    return x.transpose(1, 2).flatten(2)


class RefiningLayer(nn.Module):
    """x + AoA over multi-head self-attention, without a feed-forward part (section 3.2.1)."""

    def __init__(self, config: CaptionerConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.norm = nn.LayerNorm(config.width)
        self.query_key_value = nn.Linear(config.width, 3 * config.width)
        self.aoa = AoA(config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map B × L × width to the same shape."""
        inner = self.norm(x)
        query, key, value = (split_heads(part, self.heads) for part in self.query_key_value(inner).chunk(3, dim=2))
        attended = F.scaled_dot_product_attention(query, key, value, dropout_p=self.dropout.p if self.dropout.training else 0.0)
        return x + self.dropout(self.aoa(self.dropout(join_heads(attended)), self.dropout(inner)))


class AoAMemory(NamedTuple):
    """The decoder's keys and values of B images, computed once an image whatever the number of captions."""

    mean: Tensor
    """ā, B × width."""
    keys: Tensor
    """B × heads × L × width/heads."""
    values: Tensor
    """As ``keys``."""


@dataclass
class AoAState:
    """h, m and c after the newest word, for N rows. The memory is shared by all rows, never copied."""

    memory: AoAMemory
    hidden: Tensor
    """N × width."""
    cell: Tensor
    """N × width."""
    context: Tensor
    """N × width."""


class AoANet(CaptionNetwork):
    """Refiner and decoder with attention on attention."""

    def __init__(self, config: CaptionerConfig) -> None:
        super().__init__()
        if config.width % config.heads:
            raise ValueError(f"width {config.width} is not divisible by {config.heads} heads")
        self.config = config
        width = config.width
        self.read = nn.Linear(config.image_features, width)
        self.refiner = nn.ModuleList(RefiningLayer(config) for _ in range(config.layers))
        self.refiner_norm = nn.LayerNorm(width)
        self.key_value = nn.Linear(width, 2 * width)
        self.words = TiedWords(config.vocabulary, width)
        self.lstm = nn.LSTMCell(2 * width, width)
        open_forget_gates(self.lstm)
        self.query_norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.aoa = AoA(width)
        self.dropout = nn.Dropout(config.dropout)

    def encode(self, features: Tensor) -> AoAMemory:
        """Refine B × L × F features; return their mean, keys and values.

        Raises:
            ValueError: the features have the wrong shape.
        """
        check_features(self.config, features)
        refined = self.dropout(F.relu(self.read(features)))
        for layer in self.refiner:
            refined = layer(refined)
        refined = self.refiner_norm(refined)
        keys, values = (split_heads(part, self.config.heads) for part in self.key_value(refined).chunk(2, dim=2))
        return AoAMemory(refined.mean(1), keys.contiguous(), values.contiguous())

    def decode(self, memory: AoAMemory, words: Tensor) -> Tensor:
        """Return scores N × t × V of words N × t. Contexts need a loop over words; scores are computed at once.

        Raises:
            ValueError: N is not a multiple of B.
        """
        state = self.start(memory, rows_an_image(len(memory.mean), len(words)))
        vectors = self.dropout(self.words(words))
        contexts = [self._advance(state, vector) for vector in vectors.unbind(1)]
        return self.words.scores(self.dropout(torch.stack(contexts, dim=1)))

    def start(self, memory: AoAMemory, rows: int) -> AoAState:
        """Return a state of zeros: before the first word there is no context (c_0 = 0)."""
        zeros = memory.mean.new_zeros(len(memory.mean) * rows, self.config.width)
        return AoAState(memory, zeros, zeros, zeros)

    def step(self, state: AoAState, words: Tensor) -> Tensor:
        """Return scores N × V after words N."""
        return self.words.scores(self.dropout(self._advance(state, self.dropout(self.words(words)))))

    def reorder(self, state: AoAState, rows: Tensor) -> None:
        """Reorder hidden states, cell states and contexts; the memory stays."""
        state.hidden, state.cell, state.context = (
            tensor.index_select(0, rows) for tensor in (state.hidden, state.cell, state.context)
        )

    def _advance(self, state: AoAState, vectors: Tensor) -> Tensor:
        """Advance ``state`` by one word: word vectors N × width to contexts N × width."""
        images = len(state.memory.mean)
        # An image's k rows are adjacent, so they are k queries to one set of keys and values.
        context = self.dropout(state.context).unflatten(0, (images, -1))
        inputs = torch.cat([vectors, (state.memory.mean[:, None] + context).flatten(0, 1)], dim=1)
        state.hidden, state.cell = self.lstm(inputs, (state.hidden, state.cell))
        query = self.query(self.query_norm(state.hidden)).unflatten(0, (images, -1))
        attended = F.scaled_dot_product_attention(
            split_heads(query, self.config.heads),
            state.memory.keys,
            state.memory.values,
            dropout_p=self.dropout.p if self.dropout.training else 0.0,
        )
        state.context = self.aoa(join_heads(attended).flatten(0, 1), state.hidden)
        return state.context
