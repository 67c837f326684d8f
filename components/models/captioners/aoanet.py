"""AoANet: attention on attention (Huang et al. 2019), the captioner of PCV, section 5.4.

    AoA(q, v̂) = σ(W_g [v̂; q] + b_g) ⊙ (W_i [v̂; q] + b_i)          (section 3.1; v̂ is what attention found for q)

An ordinary attention always returns some mean of the values; the gate lets a network take less of it where it does not
answer the query. Six layers of it refine the picture's vectors (section 3.2.1), and the decoder (section 3.2.2) is an
LSTM whose hidden state asks the refined vectors a_i, with the answer as its context c_t:

    h_t, m_t = LSTM([w_t; ā + c_{t-1}], h_{t-1}, m_{t-1}),  c_t = AoA(h_t, Attention(h_t, A)),  p(y_t) = softmax(W_p c_t)

The paper reads the regions that a detector found; here each cell of the grid is one. A mean does not depend on their order and
neither does attention, so the network knows no places but what the features tell of them, as there.

Where the authors' published program, which made the figures that others compare with, is not what the paper's
equations say, this follows the program: norms stand before each refining layer and once behind all of them (the paper
has them behind each); the query of the gate is the normed vector itself and not its projection; the decoder's query is
normed for the attention, not for the gate; a ReLU follows the pictures' projection.

What is ours: W_p is the word matrix (tied, as issue and CC want it; so there is no bias, and no ReLU behind words
that go in), and every place where the program drops out (attention weights, the input of AoA in the refiner, residuals,
projected pictures, words, contexts) has the one configured rate (there .1, .3 and .5). Sizes of the paper: width 1024,
2048 features, 8 heads, 6 refining layers; the decoder has one layer whatever the configuration says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from components.models.captioners.interface import CaptionerConfig, CaptionNetwork
from components.models.captioners.parts import TiedWords, check_features, open_forget_gates, rows_a_picture


class AoA(nn.Module):
    """Attention on attention: how much of an answer to take, by what was asked. Both linear maps lie in one matrix."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.both = nn.Linear(2 * width, 2 * width)

    def forward(self, found: Tensor, query: Tensor) -> Tensor:
        """… × width each → … × width. The first half of the matrix gives the information, the second its gate."""
        return F.glu(self.both(torch.cat([found, query], dim=-1)), dim=-1)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """B × n × width → B × heads × n × width/heads."""
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """B × heads × n × width/heads → B × n × width; a plain concatenation, since AoA takes an output map's place."""
    return x.transpose(1, 2).flatten(2)


class RefiningLayer(nn.Module):
    """x + AoA over multi-head self-attention. No feed-forward part (section 3.2.1)."""

    def __init__(self, config: CaptionerConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.norm = nn.LayerNorm(config.width)
        self.query_key_value = nn.Linear(config.width, 3 * config.width)
        self.aoa = AoA(config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """B × L × width → the same."""
        inner = self.norm(x)
        query, key, value = (split_heads(each, self.heads) for each in self.query_key_value(inner).chunk(3, dim=2))
        found = F.scaled_dot_product_attention(query, key, value, dropout_p=self.dropout.p if self.dropout.training else 0.0)
        return x + self.dropout(self.aoa(self.dropout(join_heads(found)), self.dropout(inner)))


class AoAMemory(NamedTuple):
    """What the decoder asks of B pictures; made once a picture, whatever the number of captions."""

    mean: Tensor
    """ā, B × width."""
    keys: Tensor
    """B × heads × L × width/heads."""
    values: Tensor
    """As ``keys``."""


@dataclass
class AoAState:
    """Of N rows: h, m and c of the newest word. The memory is the pictures' own and is shared, never copied."""

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
            raise ValueError(f"a width of {config.width} cannot be shared equally among {config.heads} heads")
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
        """B × L × F → refined vectors' mean, keys and values.

        Raises:
            ValueError: the features have another shape than the network reads.
        """
        check_features(self.config, features)
        refined = self.dropout(F.relu(self.read(features)))
        for layer in self.refiner:
            refined = layer(refined)
        refined = self.refiner_norm(refined)
        keys, values = (split_heads(each, self.config.heads) for each in self.key_value(refined).chunk(2, dim=2))
        return AoAMemory(refined.mean(1), keys.contiguous(), values.contiguous())

    def decode(self, memory: AoAMemory, words: Tensor) -> Tensor:
        """N × t → N × t × V. A loop over words, since each context enters the next word's step; scores all at once.

        Raises:
            ValueError: N is no multiple of B.
        """
        state = self.start(memory, rows_a_picture(len(memory.mean), len(words)))
        vectors = self.dropout(self.words(words))
        contexts = [self._advance(state, each) for each in vectors.unbind(1)]
        return self.words.scores(self.dropout(torch.stack(contexts, dim=1)))

    def start(self, memory: AoAMemory, rows: int) -> AoAState:
        """Zeros: before the first word there is no context yet (c_0 = 0)."""
        nothing = memory.mean.new_zeros(len(memory.mean) * rows, self.config.width)
        return AoAState(memory, nothing, nothing, nothing)

    def step(self, state: AoAState, words: Tensor) -> Tensor:
        """N → N × V."""
        return self.words.scores(self.dropout(self._advance(state, self.dropout(self.words(words)))))

    def reorder(self, state: AoAState, rows: Tensor) -> None:
        """Hidden and cell states and contexts change places; the memory stays."""
        state.hidden, state.cell, state.context = (
            each.index_select(0, rows) for each in (state.hidden, state.cell, state.context)
        )

    def _advance(self, state: AoAState, vectors: Tensor) -> Tensor:
        """Word vectors N × width → the contexts N × width after them; moves ``state`` on by a word."""
        pictures = len(state.memory.mean)
        # The k rows of a picture stand beside each other, so they are k queries to one set of keys and values.
        context = self.dropout(state.context).unflatten(0, (pictures, -1))
        entering = torch.cat([vectors, (state.memory.mean[:, None] + context).flatten(0, 1)], dim=1)
        state.hidden, state.cell = self.lstm(entering, (state.hidden, state.cell))
        asking = self.query(self.query_norm(state.hidden)).unflatten(0, (pictures, -1))
        found = F.scaled_dot_product_attention(
            split_heads(asking, self.config.heads),
            state.memory.keys,
            state.memory.values,
            dropout_p=self.dropout.p if self.dropout.training else 0.0,
        )
        state.context = self.aoa(join_heads(found).flatten(0, 1), state.hidden)
        return state.context
