"""Parts shared by the recurrent networks and AoANet: input checks, the tied word matrix, LSTM initialisation."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from components.models.captioners.interface import CaptionerConfig
from components.models.packed_linear import Tied


def check_features(config: CaptionerConfig, features: Tensor) -> None:
    """Raise unless ``features`` are B × L × F, with L = 1 for networks that read no grid."""
    if features.dim() != 3 or features.shape[2] != config.image_features or features.shape[1] == 0:
        raise ValueError(
            f"{config.network} reads features of images × vectors × {config.image_features}, "
            f"not {' × '.join(map(str, features.shape))}"
        )
    if not config.grid and features.shape[1] != 1:
        raise ValueError(
            f"{config.network} reads one vector an image, not {features.shape[1]}; for a grid use a network named 8x8"
        )


def rows_an_image(images: int, rows: int) -> int:
    """Return k of N = B · k; raise ValueError if N is not a positive multiple of B."""
    if images == 0 or rows == 0 or rows % images:
        raise ValueError(f"{rows} rows of words are not a multiple of {images} images")
    return rows // images


class TiedWords(nn.Module):
    """One V × width matrix for input words and output scores (CC §5.2), without a bias.

    The paper names no initialisation: rows have a norm of about 1, so that the first scores are small. Input vectors are
    multiplied by √width (Vaswani et al. 2017, section 3.4): otherwise what suits the first scores is negligible to an LSTM beside
    the image, and is learned several times slower.
    """

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, width))
        nn.init.normal_(self.weight, std=width**-0.5)
        self.out = Tied("weight")

    def forward(self, words: Tensor) -> Tensor:
        """Map word ids of any shape to the same shape × width."""
        return nn.functional.embedding(words, self.weight) * math.sqrt(self.weight.shape[1])

    def scores(self, hidden: Tensor) -> Tensor:
        """Return logits … × V of … × width."""
        logits: Tensor = self.out(hidden, self.weight)
        return logits


def open_forget_gates(cell: nn.LSTM | nn.LSTMCell) -> None:
    """Set an LSTM's forget biases to 1 and all other biases to 0 (Jozefowicz et al. 2015).

    torch draws biases around 0, which halves the cell state at each of the 64 steps of an 8×8 grid. torch keeps two bias
    vectors that are only ever added; the 1 is in the first.
    """
    width = cell.hidden_size
    with torch.no_grad():
        for name, bias in cell.named_parameters():
            if name.startswith("bias"):
                bias.zero_()
            if name.startswith("bias_ih"):
                bias[width : 2 * width] = 1.0
