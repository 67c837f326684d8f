"""The interface of captioning networks for training and decoding (CC, figure 4: encoder, decoder).

B images, L vectors of F features an image, N = B · k rows of words (k beams or captions an image, adjacent), V words in the
vocabulary.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from components.models.vocabulary import PAD


def reads_grid(network: str) -> bool:
    """Return whether the network of this name reads a grid of vectors: CC's names of the others end with 1x1."""
    return not network.endswith("1x1")


@dataclass(frozen=True)
class CaptionerConfig:
    """Everything needed to rebuild a network; defaults are CC's (§5.2)."""

    network: str
    vocabulary: int
    """V."""
    image_features: int = 1536
    """F."""
    width: int = 512
    """Width of word vectors and hidden layers."""
    heads: int = 8
    layers: int = 6
    """Layers of the encoder and of the decoder; the recurrent networks always have one."""
    feedforward: int = 2048
    """Inner width of the feed-forward sub-layers (Vaswani et al. 2017, table 3); unused by the recurrent networks."""
    pre_norm: bool = False
    """Layer norm before each sub-layer instead of after it; see :mod:`components.models.captioners.transformer`."""
    dropout: float = 0.1
    longest: int = 15
    """Maximum number of words of a caption, without the end sign."""

    @property
    def grid(self) -> bool:
        """Whether the network reads a grid of vectors instead of one vector of the whole image."""
        return reads_grid(self.network)

    def plain(self) -> dict[str, Any]:
        """Return the fields as JSON-able values."""
        return asdict(self)


class CaptionNetwork(nn.Module, ABC):
    """A network from image features to scores of the next word.

    A *memory* is :meth:`encode`'s result for B images; it does not depend on words. A *state* is what decoding keeps
    between words; its parts that belong to an image (cross-attention keys and values) are stored once an image, whatever k is,
    and are never copied or reordered.
    """

    config: CaptionerConfig

    @abstractmethod
    def encode(self, features: Tensor) -> Any:
        """Return the memory of B × L × F features."""

    @abstractmethod
    def decode(self, memory: Any, words: Tensor) -> Tensor:
        """Return the scores of the word after each of ``words`` (N × t, START first): N × t × V logits, without a cache."""

    @abstractmethod
    def start(self, memory: Any, rows: int) -> Any:
        """Return the state before the first word, for ``rows`` = k rows an image."""

    @abstractmethod
    def step(self, state: Any, words: Tensor) -> Tensor:
        """Return the scores of the word after ``words`` (N, the newest of each row), N × V, and advance ``state``.

        Equals the last column of :meth:`decode` over all words so far, up to rounding.
        """

    @abstractmethod
    def reorder(self, state: Any, rows: Tensor) -> None:
        """Replace row n of the state's past words by row ``rows[n]`` (N, within the same image)."""

    def loss(self, features: Tensor, words: Tensor, smoothing: float = 0.0) -> Tensor:
        """Return the mean cross-entropy a word of ``words`` (N × t: START, words, END, PAD …), a scalar."""
        scores = self.decode(self.encode(features), words[:, :-1])
        return F.cross_entropy(scores.flatten(0, 1), words[:, 1:].flatten(), ignore_index=PAD, label_smoothing=smoothing)
