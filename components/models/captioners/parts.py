"""What the recurrent networks and AoANet share: checks of what comes in, the tied word matrix, how an LSTM begins."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from components.models.captioners.interface import CaptionerConfig
from components.models.packed import Tied


def check_features(config: CaptionerConfig, features: Tensor) -> None:
    """That ``features`` are B × L × F, with one vector a picture where the network reads no grid.

    Raises:
        ValueError: they are not.
    """
    if features.dim() != 3 or features.shape[2] != config.image_features or features.shape[1] == 0:
        raise ValueError(
            f"{config.network} reads features of pictures × vectors × {config.image_features}, "
            f"and was given {' × '.join(map(str, features.shape))}"
        )
    if not config.grid and features.shape[1] != 1:
        raise ValueError(
            f"{config.network} reads one vector a picture, and was given {features.shape[1]}; the networks for a grid end in 8x8"
        )


def rows_a_picture(pictures: int, rows: int) -> int:
    """k of N = B · k.

    Raises:
        ValueError: the rows of words cannot be shared equally among the pictures.
    """
    if pictures == 0 or rows == 0 or rows % pictures:
        raise ValueError(f"{rows} rows of words cannot be shared equally among {pictures} pictures")
    return rows // pictures


class TiedWords(nn.Module):
    """One V × width matrix for words that go in and scores that come out (CC, section 5.2), without a bias.

    Open choices. The paper gives no start: rows are drawn with a norm of about 1, so that the first scores are small.
    Vectors that go in are multiplied by √width, as Vaswani et al. (2017, section 3.4) do with theirs: what makes good
    first scores would else reach an LSTM as next to nothing beside the picture, and be learned several times slower.
    """

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, width))
        nn.init.normal_(self.weight, std=width**-0.5)
        self.out = Tied("weight")

    def forward(self, words: Tensor) -> Tensor:
        """Numbers of words, of any shape → the same shape × width."""
        return nn.functional.embedding(words, self.weight) * math.sqrt(self.weight.shape[1])

    def scores(self, hidden: Tensor) -> Tensor:
        """… × width → … × V (logits)."""
        found: Tensor = self.out(hidden, self.weight)
        return found


def open_forget_gates(cell: nn.LSTM | nn.LSTMCell) -> None:
    """Let an LSTM begin by remembering: forget biases of 1, all other biases 0 (Jozefowicz et al. 2015).

    torch draws its biases around 0, which halves the cell at each of an 8×8 grid's 64 steps. torch also keeps two bias
    vectors that are only ever added; the 1 is in the first.
    """
    width = cell.hidden_size
    with torch.no_grad():
        for name, bias in cell.named_parameters():
            if name.startswith("bias"):
                bias.zero_()
            if name.startswith("bias_ih"):
                bias[width : 2 * width] = 1.0
