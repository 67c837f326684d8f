"""RNN1x1 and RNN8x8: one LSTM reads the image, another writes the caption (CC §4.1 and §5.2).

    h_l = RNN_enc(x_l, h_{l-1}),  H = h_L;      z_t = RNN_dec(y_t, z_{t-1}),  z_0 = H

Both LSTMs have one layer of 512. 1x1 reads one vector of the whole image, so its encoder takes a single step from a zero state
(and never uses its recurrent matrix); 8x8 reads the 64 cells row by row. There is no cross-attention: the decoder sees only H.

Choices that the paper leaves open:

- *The decoder's first cell state.* The equations write an LSTM's state with one symbol, h or z, so it stands for the pair of
  hidden and cell state; H = h_L passes both.
- *From 1536 features to a 512-d network.* A linear map with a bias, as in Show-And-Tell (Vinyals et al. 2015).
- *Dropout.* None is named. The configured rate applies to the inputs of both LSTMs and to the decoder's outputs, never between
  steps (Zaremba et al. 2014); 0 is the paper to the letter.
- *Initial biases and word vectors.* See :mod:`components.models.captioners.parts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from components.models.captioners.interface import CaptionerConfig, CaptionNetwork
from components.models.captioners.parts import TiedWords, check_features, open_forget_gates, rows_an_image


class RecurrentMemory(NamedTuple):
    """H of B images."""

    hidden: Tensor
    """B × width."""
    cell: Tensor
    """B × width."""


@dataclass
class RecurrentState:
    """z_t of N rows; no part belongs to an image."""

    hidden: Tensor
    """N × width."""
    cell: Tensor
    """N × width."""


def run_lstm(lstm: nn.LSTM, inputs: Tensor, state: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Run an LSTM; under autocast on the CPU in float32, since oneDNN has no bfloat16 LSTM without AVX-512.

    N × t × H and, unless zero, two states of 1 × N × H → N × t × H and the last states.
    """
    if inputs.device.type == "cpu" and torch.is_autocast_enabled("cpu"):
        with torch.autocast("cpu", enabled=False):
            result = lstm(inputs.float(), None if state is None else (state[0].float(), state[1].float()))
    else:
        result = lstm(inputs, state)
    output, last = result
    return output, last


class RecurrentCaptioner(CaptionNetwork):
    """RNN1x1 or RNN8x8, by the configuration's name; ``heads`` and ``layers`` are not used."""

    def __init__(self, config: CaptionerConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.read = nn.Linear(config.image_features, width)
        self.encoder = nn.LSTM(width, width, batch_first=True)
        self.words = TiedWords(config.vocabulary, width)
        self.decoder = nn.LSTM(width, width, batch_first=True)
        self.dropout = nn.Dropout(config.dropout)
        for lstm in (self.encoder, self.decoder):
            open_forget_gates(lstm)

    def encode(self, features: Tensor) -> RecurrentMemory:
        """Return H of B × L × F features; raise ValueError if the features have the wrong shape."""
        check_features(self.config, features)
        _, (hidden, cell) = run_lstm(self.encoder, self.dropout(self.read(features)))
        return RecurrentMemory(hidden[0], cell[0])

    def decode(self, memory: RecurrentMemory, words: Tensor) -> Tensor:
        """Return scores N × t × V of words N × t, each row in one call of the LSTM.

        Raises:
            ValueError: N is not a multiple of B.
        """
        state = self.start(memory, rows_an_image(len(memory.hidden), len(words)))
        return self._run(state, words)

    def start(self, memory: RecurrentMemory, rows: int) -> RecurrentState:
        """Return H, repeated for each row."""
        return RecurrentState(*(tensor.repeat_interleave(rows, dim=0) for tensor in memory))

    def step(self, state: RecurrentState, words: Tensor) -> Tensor:
        """Return scores N × V after words N, one step of the LSTM."""
        return self._run(state, words[:, None])[:, 0]

    def reorder(self, state: RecurrentState, rows: Tensor) -> None:
        """Reorder hidden and cell states."""
        state.hidden, state.cell = state.hidden.index_select(0, rows), state.cell.index_select(0, rows)

    def _run(self, state: RecurrentState, words: Tensor) -> Tensor:
        """Return scores N × t × V of words N × t; advance ``state`` by t words."""
        before = (state.hidden[None], state.cell[None])
        hidden, (last, cell) = run_lstm(self.decoder, self.dropout(self.words(words)), before)
        state.hidden, state.cell = last[0], cell[0]
        return self.words.scores(self.dropout(hidden))
