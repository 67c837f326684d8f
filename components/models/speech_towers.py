"""Speech towers by name: a clip's MFCCs to one vector (CSC, sections 3 and 4.1).

B clips of C coefficients × T frames, normalised, with B lengths, the frames that are a clip's own.

``inception_resnet_v2`` is the paper's: the coefficients stacked 3 times are a picture of C × T px, and the embedding is the mean
over the last feature map. The paper does not say whether that mean takes in what padding gave. Here it does, unless
``pool_padding`` is False: theirs is a classifier of pictures, whose global pool knows nothing of lengths. Then an embedding
depends on how far its clip is padded, so all clips must be padded to one length. ``convolutions`` is a light tower for small
machines, whose embedding depends on a clip's own frames alone.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from components.models.inception_resnet_v2 import LEAST_SIDE, WIDTH, InceptionResnetV2, cells

KERNEL = 5
"""Frames that a convolution of the light tower sees."""
TOGETHER = 8
"""Clips that the light tower convolves together on a processor."""


class SpeechTower(nn.Module):
    """What every speech tower is: a network behind the training set's mean and deviation."""

    mean: Tensor
    deviation: Tensor
    padding_counts = False
    """Whether a clip's embedding depends on how far it is padded: then pad all clips to one length."""

    def __init__(self, coefficients: int) -> None:
        super().__init__()
        self.coefficients = coefficients
        self.register_buffer("mean", torch.zeros(coefficients, 1))
        self.register_buffer("deviation", torch.ones(coefficients, 1))

    def normalise(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Each coefficient to the training set's mean 0 and deviation 1; padding to exactly 0."""
        self.check(features, lengths)
        return _padded((features - self.mean) / self.deviation, lengths.to(features.device))

    def check(self, features: Tensor, lengths: Tensor) -> None:
        """Raise ValueError unless they are such a batch."""
        shape = tuple(features.shape)
        if len(shape) != 3 or shape[1] != self.coefficients or not shape[2]:
            raise ValueError(f"speech of shape {shape}; this tower reads clips × {self.coefficients} coefficients × frames")
        if tuple(lengths.shape) != shape[:1]:
            raise ValueError(f"{shape[0]} clips with lengths of shape {tuple(lengths.shape)}; there must be one a clip")

    def forward(self, features: Tensor, lengths: Tensor) -> Tensor:
        """B × coefficients × frames, normalised → B × embedding. What stands behind a clip's own frames counts as 0.

        Raises:
            ValueError: another shape, or not a length a clip.
        """
        self.check(features, lengths)
        # A clip without any frame is one of a single frame of nothing: its embedding is a number like any other.
        lengths = lengths.to(features.device).clamp_min(1)
        return self.embed(_padded(features, lengths), lengths)

    @abstractmethod
    def embed(self, features: Tensor, lengths: Tensor) -> Tensor:
        """As :meth:`forward`, of features that are 0 behind ``lengths``, which are 1 or more and on the same device."""


class InceptionSpeech(SpeechTower):
    """Inception-ResNet-v2 over a clip's coefficients as a picture; without a projection where ``embedding`` is 1536."""

    # Convolutions see beyond a clip's end even where the pool does not.
    padding_counts = True

    def __init__(self, coefficients: int, embedding: int, dropout: float, *, pool_padding: bool, momentum: float) -> None:
        super().__init__(coefficients)
        self.pool_padding = pool_padding
        self.network = InceptionResnetV2(classes=0)
        set_momentum(self.network, momentum)
        self.dropout = nn.Dropout(dropout)
        self.project = nn.Linear(WIDTH, embedding) if embedding != WIDTH else nn.Identity()

    def embed(self, features: Tensor, lengths: Tensor) -> Tensor:
        # Shorter clips would leave no feature map: the picture ends in padding, as it does behind any clip.
        features = F.pad(features, (0, max(0, LEAST_SIDE - features.shape[2])))
        found = self.network.features(features[:, None].expand(-1, 3, -1, -1))
        if self.pool_padding:
            return self.project(self.dropout(found.mean((2, 3))))
        # As many columns as the clip has alone; the last of them see some of what follows.
        own = cells(lengths.clamp_min(LEAST_SIDE)).clamp_max(found.shape[3])
        inside = (torch.arange(found.shape[3], device=found.device)[None] < own[:, None]).to(found.dtype)
        pooled = (found.mean(2) * inside[:, None]).sum(2) / own[:, None]
        return self.project(self.dropout(pooled))


class ConvolutionalSpeech(SpeechTower):
    """Strided convolutions over time, then attentive and maximum pooling over the frames that are speech."""

    def __init__(self, coefficients: int, embedding: int, dropout: float, *, channels: int, layers: int) -> None:
        super().__init__(coefficients)
        widths = [coefficients] + [channels] * layers
        self.convolutions = nn.ModuleList(
            nn.Conv1d(a, b, kernel_size=KERNEL, stride=2, padding=KERNEL // 2) for a, b in itertools.pairwise(widths)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for width in widths[1:])
        self.dropout = nn.Dropout(dropout)
        # No bias: a softmax does not see one.
        self.attention = nn.Linear(channels, 1, bias=False)
        self.project = nn.Linear(2 * channels, embedding)

    def embed(self, features: Tensor, lengths: Tensor) -> Tensor:
        if features.device.type != "cpu" or len(lengths) <= TOGETHER:
            return self._embed(features, lengths)
        # Clips of about one length together: on a processor padding costs as much as speech, and a batch's longest clip has
        # several times the frames of most. No clip sees another, so this changes no result but by rounding.
        order = lengths.argsort(stable=True)
        found = [self._embed(features[some, :, : int(lengths[some[-1]])], lengths[some]) for some in order.split(TOGETHER)]
        return torch.cat(found)[order.argsort()]

    def _embed(self, features: Tensor, lengths: Tensor) -> Tensor:
        hidden = features
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            hidden = norm(convolution(hidden).transpose(1, 2)).transpose(1, 2)
            lengths = (lengths - 1) // 2 + 1
            # Padding is zeroed after every layer: a clip's embedding must not depend on its batch's longest clip.
            hidden = _padded(self.dropout(F.relu(hidden)), lengths)
        speech = _inside(hidden, lengths)
        weights = self.attention(hidden.transpose(1, 2)).squeeze(2).masked_fill(~speech, float("-inf")).softmax(1)
        attended = torch.einsum("bct,bt->bc", hidden, weights.to(hidden.dtype))
        peaks = hidden.masked_fill(~speech[:, None], float("-inf")).amax(2)
        return self.project(self.dropout(torch.cat([attended, peaks], dim=1)))


def set_momentum(network: nn.Module, momentum: float) -> None:
    """Let each batch count ``momentum`` in the running mean and variance of the network's batch norms."""
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = momentum


def _inside(features: Tensor, lengths: Tensor) -> Tensor:
    return torch.arange(features.shape[2], device=features.device)[None] < lengths[:, None]


def _padded(features: Tensor, lengths: Tensor) -> Tensor:
    # Filled, not multiplied: what stands behind a clip may be no number.
    return features.masked_fill(~_inside(features, lengths)[:, None], 0.0)
