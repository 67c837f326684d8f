"""The speech–image dual encoder: a speech tower over MFCCs, an image tower over frozen features (seed 003, section 3).

The paper's towers are two Inception-ResNet-v2 trained end to end to 1536 dimensions (mission S5, a later issue); these
are small stand-ins with the same interface. Similarity is the dot product. The paper states neither normalisation nor
temperature: with ``scale`` > 0 embeddings are L2-normalised and their dot product is multiplied by it; ``scale`` 0 is
the raw dot product.
"""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class DualEncoderConfig:
    """All that is needed to build the network again."""

    coefficients: int = 128
    image_features: int = 1280
    channels: int = 192
    embedding: int = 256
    layers: int = 3
    dropout: float = 0.2
    scale: float = 16.0

    def plain(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)


class SpeechTower(nn.Module):
    """Strided convolutions over time, then attentive pooling over the frames that are speech."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, config: DualEncoderConfig) -> None:
        super().__init__()
        widths = [config.coefficients] + [config.channels] * config.layers
        self.convolutions = nn.ModuleList(
            nn.Conv1d(a, b, kernel_size=5, stride=2, padding=2) for a, b in itertools.pairwise(widths)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for width in widths[1:])
        self.dropout = nn.Dropout(config.dropout)
        self.attention = nn.Linear(config.channels, 1)
        self.project = nn.Linear(2 * config.channels, config.embedding)
        self.register_buffer("mean", torch.zeros(config.coefficients, 1))
        self.register_buffer("deviation", torch.ones(config.coefficients, 1))

    def normalise(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Each coefficient to the training set's mean 0 and deviation 1; padding to exactly 0."""
        return _padded((features - self.mean) / self.deviation, lengths)

    def forward(self, features: Tensor, lengths: Tensor) -> Tensor:
        """B × coefficients × frames, normalised → B × embedding. Frames past ``lengths`` have no influence."""
        hidden = _padded(features, lengths)
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            hidden = norm(convolution(hidden).transpose(1, 2)).transpose(1, 2)
            lengths = (lengths - 1) // 2 + 1
            # Padding is zeroed after every layer: a clip's embedding must not depend on its batch's longest clip.
            hidden = _padded(self.dropout(F.relu(hidden)), lengths)
        speech = torch.arange(hidden.shape[2])[None] < lengths[:, None]
        weights = self.attention(hidden.transpose(1, 2)).squeeze(2).masked_fill(~speech, float("-inf")).softmax(1)
        attended = torch.einsum("bct,bt->bc", hidden, weights)
        peaks = hidden.masked_fill(~speech[:, None], float("-inf")).amax(2)
        return self.project(self.dropout(torch.cat([attended, peaks], dim=1)))


class ImageTower(nn.Module):
    """Two linear layers over one frozen feature vector a picture."""

    def __init__(self, config: DualEncoderConfig) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.LayerNorm(config.image_features),
            nn.Dropout(config.dropout),
            nn.Linear(config.image_features, 2 * config.embedding),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(2 * config.embedding, config.embedding),
        )

    def forward(self, features: Tensor) -> Tensor:
        """B × image features → B × embedding."""
        return self.layers(features)


class DualEncoder(nn.Module):
    """Both towers and their similarity."""

    def __init__(self, config: DualEncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.speech = SpeechTower(config)
        self.image = ImageTower(config)

    def embed_speech(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Embeddings of unnormalised MFCCs (B × coefficients × frames), ready for a dot product."""
        return self.finish(self.speech(self.speech.normalise(features, lengths), lengths))

    def embed_images(self, features: Tensor) -> Tensor:
        """Embeddings of frozen features (B × image features), ready for a dot product."""
        return self.finish(self.image(features))

    def finish(self, embedding: Tensor) -> Tensor:
        """A tower's output as the embedding that similarity is taken of."""
        # The scale is shared out evenly, so a stored embedding needs nothing but a dot product.
        return F.normalize(embedding, dim=1) * self.config.scale**0.5 if self.config.scale > 0 else embedding


def similarity(speech: Tensor, images: Tensor) -> Tensor:
    """Z of eq. 1: speech × images dot products."""
    return speech @ images.T


def _padded(features: Tensor, lengths: Tensor) -> Tensor:
    inside = torch.arange(features.shape[2])[None] < lengths[:, None]
    return features * inside[:, None].to(features.dtype)
