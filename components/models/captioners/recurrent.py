"""RNN1x1 and RNN8x8: an LSTM reads the picture, another writes the caption (CC, sections 4.1 and 5.2).

    h_l = RNN_enc(x_l, h_{l-1}),  H = h_L;      z_t = RNN_dec(y_t, z_{t-1}),  z_0 = H

Both LSTMs have one layer of 512. 1x1 reads one vector of the whole picture, so its encoder makes a single cell step,
from a state of zeros (and never uses its matrix for past states); 8x8 reads the 64 cells row by row. There is no
cross-attention: H is all that the decoder ever sees of the picture.

What the paper leaves open, and the answer here:

- *The decoder's first cell state.* Its equations write an LSTM's recurrence with one symbol, h or z, so that symbol
  must be the pair of hidden and cell state; H = h_L hands over both.
- *How 1536 features enter a 512-d network.* By a linear map with a bias, as Show-And-Tell (Vinyals et al. 2015) has it.
- *Dropout.* None is named. It stands, with the configured rate, on what enters either LSTM and on what leaves the
  decoder, never between two steps (Zaremba et al. 2014); 0 is the paper to the letter.
- *First biases and words.* See :mod:`components.models.captioners.parts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from components.models.captioners.interface import CaptionerConfig, CaptionNetwork
from components.models.captioners.parts import TiedWords, check_features, open_forget_gates, rows_a_picture


class RecurrentMemory(NamedTuple):
    """H, of B pictures."""

    hidden: Tensor
    """B × width."""
    cell: Tensor
    """B × width."""


@dataclass
class RecurrentState:
    """z_t, of N rows; nothing in it belongs to a picture alone."""

    hidden: Tensor
    """N × width."""
    cell: Tensor
    """N × width."""


def run_lstm(lstm: nn.LSTM, inputs: Tensor, state: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Run an LSTM, under autocast on the CPU in single precision: without AVX-512, oneDNN has no other.

    N × t × H and, if not zeros, two states of 1 × N × H → N × t × H and the last states.
    """
    if inputs.device.type == "cpu" and torch.is_autocast_enabled("cpu"):
        with torch.autocast("cpu", enabled=False):
            found = lstm(inputs.float(), None if state is None else (state[0].float(), state[1].float()))
    else:
        found = lstm(inputs, state)
    output, last = found
    return output, last


class RecurrentCaptioner(CaptionNetwork):
    """RNN1x1 or RNN8x8, as the configuration's name says; ``heads`` and ``layers`` have no meaning here."""

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
        """B × L × F → H.

        Raises:
            ValueError: the features have another shape than the network reads.
        """
        check_features(self.config, features)
        _, (hidden, cell) = run_lstm(self.encoder, self.dropout(self.read(features)))
        return RecurrentMemory(hidden[0], cell[0])

    def decode(self, memory: RecurrentMemory, words: Tensor) -> Tensor:
        """N × t → N × t × V, the whole of each row in one call of the LSTM.

        Raises:
            ValueError: N is no multiple of B.
        """
        state = self.start(memory, rows_a_picture(len(memory.hidden), len(words)))
        return self._run(state, words)

    def start(self, memory: RecurrentMemory, rows: int) -> RecurrentState:
        """H, once for each row."""
        return RecurrentState(*(each.repeat_interleave(rows, dim=0) for each in memory))

    def step(self, state: RecurrentState, words: Tensor) -> Tensor:
        """N → N × V, one step of the LSTM."""
        return self._run(state, words[:, None])[:, 0]

    def reorder(self, state: RecurrentState, rows: Tensor) -> None:
        """Hidden and cell states change places."""
        state.hidden, state.cell = state.hidden.index_select(0, rows), state.cell.index_select(0, rows)

    def _run(self, state: RecurrentState, words: Tensor) -> Tensor:
        """N × t → N × t × V; moves ``state`` on by t words."""
        before = (state.hidden[None], state.cell[None])
        hidden, (last, cell) = run_lstm(self.decoder, self.dropout(self.words(words)), before)
        state.hidden, state.cell = last[0], cell[0]
        return self.words.scores(self.dropout(hidden))
