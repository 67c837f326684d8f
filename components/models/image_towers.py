"""Image towers by name: from a picture, or a frozen encoder's features, to one vector (CSC §3 and §4.1).

B pictures. ``inception_resnet_v2`` is the paper's, at 299 px: the embedding is the mean over its last feature map, without a
projection at 1536 dimensions. ``efficientnet_lite0`` is also trained end to end; its network is passed in by the provider of its
weights. ``convolutions`` is a light network over small pictures; ``features`` reads a frozen encoder's vector. Reading, cropping
and distorting pictures is not in scope.
"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from components.models.encoders import ImageEncoder

MIDDLE = 127.5
"""Pixels 0..255 are normalised as (x - MIDDLE) / MIDDLE."""


class EncodedImage(nn.Module):
    """Mean over a trained encoder's feature map, projected if its width differs from the embedding's."""

    def __init__(self, encoder: ImageEncoder, embedding: int, dropout: float) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.kind.features
        self.dropout = nn.Dropout(dropout)
        self.project = nn.Linear(width, embedding) if embedding != width else nn.Identity()

    def forward(self, pictures: Tensor) -> Tensor:
        """Map B × 3 × side × side of 0..255 to B × embedding; raise ValueError for another shape."""
        return self.project(self.dropout(self.encoder.encode(pictures)[:, 0]))


class ConvolutionalImage(nn.Module):
    """Strided convolutions over a small picture, mean and maximum pooling, and a projection."""

    def __init__(self, side: int, embedding: int, dropout: float, *, channels: int, layers: int) -> None:
        super().__init__()
        self.side = side
        # Each layer has a quarter of the previous layer's positions and twice its channels.
        widths = [3] + [max(1, channels >> (layers - 1 - layer)) for layer in range(layers)]
        self.convolutions = nn.ModuleList(nn.Conv2d(a, b, 3, stride=2, padding=1) for a, b in itertools.pairwise(widths))
        # Normalised over one picture's channels and positions, so that no picture depends on its batch.
        self.norms = nn.ModuleList(nn.GroupNorm(1, width) for width in widths[1:])
        self.dropout = nn.Dropout(dropout)
        self.project = nn.Linear(2 * channels, embedding)

    def forward(self, pictures: Tensor) -> Tensor:
        """Map B × 3 × side × side of 0..255 to B × embedding; raise ValueError for another shape."""
        if pictures.dim() != 4 or pictures.shape[1:] != (3, self.side, self.side):
            raise ValueError(f"pictures of shape {tuple(pictures.shape)}; this tower reads batch × 3 × {self.side} × {self.side}")
        hidden = (pictures.float() - MIDDLE) / MIDDLE
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            hidden = self.dropout(F.relu(norm(convolution(hidden))))
        return self.project(torch.cat([hidden.mean((2, 3)), hidden.amax((2, 3))], dim=1))


class FeatureImage(nn.Module):
    """Two linear layers over one frozen feature vector a picture."""

    def __init__(self, features: int, embedding: int, dropout: float) -> None:
        super().__init__()
        self.features = features
        self.layers = nn.Sequential(
            nn.LayerNorm(features),
            nn.Dropout(dropout),
            nn.Linear(features, 2 * embedding),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(2 * embedding, embedding),
        )

    def forward(self, pictures: Tensor) -> Tensor:
        """Map B × image features, of any float dtype, to B × embedding; raise ValueError for another shape."""
        if pictures.dim() != 2 or pictures.shape[1] != self.features or not pictures.is_floating_point():
            raise ValueError(
                f"pictures of shape {tuple(pictures.shape)} in {pictures.dtype}; this tower reads B × {self.features} features"
            )
        return self.layers(pictures.float())
