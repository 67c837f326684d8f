"""What every captioning network offers to training and to decoding (figure 4 of CC: encoder, decoder).

B pictures, L vectors of F features a picture, N = B · k rows of words (k beams or captions a picture, those of one
picture beside each other), V words in the vocabulary.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from components.models.vocabulary import PAD


@dataclass(frozen=True)
class CaptionerConfig:
    """All that is needed to build a network again; defaults are CC's (section 5.2)."""

    network: str
    vocabulary: int
    """V."""
    image_features: int = 1536
    """F."""
    width: int = 512
    """Of word vectors and hidden layers."""
    heads: int = 8
    layers: int = 6
    """Encoder and decoder layers each; the recurrent networks have one whatever this says, as there."""
    feedforward: int = 2048
    """Inner width of the feed-forward sub-layers (Vaswani et al. 2017, table 3); the recurrent networks have none."""
    pre_norm: bool = False
    """Layer norms before each sub-layer and not after it; see :mod:`components.models.captioners.transformer`."""
    dropout: float = 0.1
    longest: int = 15
    """Words of a caption at most; the end sign comes on top."""

    @property
    def grid(self) -> bool:
        """Whether the network reads a grid of vectors, and not the one of the whole picture."""
        return not self.network.endswith("1x1")

    def plain(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)


class CaptionNetwork(nn.Module, ABC):
    """Image features in, scores of the next word out.

    A *memory* is what :meth:`encode` makes of B pictures; it does not depend on words. A *state* is what decoding
    keeps between words; its parts that belong to a picture (cross-attention keys and values) are held once a picture,
    whatever k is, and are never copied or reordered.
    """

    config: CaptionerConfig

    @abstractmethod
    def encode(self, features: Tensor) -> Any:
        """B × L × F → the memory."""

    @abstractmethod
    def decode(self, memory: Any, words: Tensor) -> Tensor:
        """Scores of the word after each of ``words`` (N × t, START first): N × t × V (logits, all at once, no cache)."""

    @abstractmethod
    def start(self, memory: Any, rows: int) -> Any:
        """The state before the first word, for ``rows`` = k rows a picture."""

    @abstractmethod
    def step(self, state: Any, words: Tensor) -> Tensor:
        """Scores of the word after ``words`` (N, the newest of each row): N × V; moves ``state`` on by a word.

        The same as the last column of :meth:`decode` over all words so far, up to rounding.
        """

    @abstractmethod
    def reorder(self, state: Any, rows: Tensor) -> None:
        """Put row ``rows[n]`` (N, within the same picture) in row n's place, in what the state keeps of past words."""

    def loss(self, features: Tensor, words: Tensor, smoothing: float = 0.0) -> Tensor:
        """Mean cross-entropy a word of ``words`` (N × t: START, words, END, PAD …), a scalar."""
        scores = self.decode(self.encode(features), words[:, :-1])
        return F.cross_entropy(scores.flatten(0, 1), words[:, 1:].flatten(), ignore_index=PAD, label_smoothing=smoothing)
