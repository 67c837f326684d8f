"""The towers of dual encoders by name: from what is heard of a clip, or from an image, to one vector (CSC §3 and §4.1).

Speech: B clips of rows × columns, normalised, with B lengths, each clip's own columns. A tower says what it ``reads``; those here
read MFCCs, coefficients × frames (``pooled_towers`` has the others). ``inception_resnet_v2`` is the paper's: the coefficients,
stacked 3 times, are an image of C × T px, and the embedding is the mean over the last feature map. The paper does not state
whether that mean includes padding. Here it does, unless ``pool_padding`` is False: theirs is an image classifier, whose global
pooling knows no lengths. An embedding then depends on its clip's padding, so all clips must be padded to one length.
``convolutions`` is a light tower for small machines; its embedding depends on a clip's own frames alone.

Images: B images. ``inception_resnet_v2`` is the paper's, at 299 px: the mean over its last feature map, without a projection at
1536 dimensions. ``efficientnet_lite0`` is trained end to end as well; the provider of its weights passes its network in.
``convolutions`` is a light network over small images; ``features`` reads a frozen encoder's vector.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from components.models.encoders import ImageEncoder
from components.models.inception_resnet_v2 import LEAST_SIDE, WIDTH, InceptionResnetV2, cells

KERNEL = 5
"""Kernel size of the light tower's convolutions, in frames."""
TOGETHER = 8
"""Clips that are convolved together on a CPU."""


class SpeechTower(nn.Module):
    """Base of the speech towers: normalisation by the training set's mean and deviation, then a network.

    Args:
        rows: of its input.
    """

    mean: Tensor
    deviation: Tensor
    reads = "coefficients"
    """Its input: ``coefficients``, ``states`` or ``words`` (:mod:`components.retrieval.inputs`)."""
    padding_counts = False
    """Whether an embedding depends on its clip's padding, so that all clips must be padded to one length."""
    cpu_batch = 32
    """Clips, sorted by length, that are embedded fastest together on a processor (``benchmarks/README.md``)."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.rows = rows
        self.register_buffer("mean", torch.zeros(rows, 1))
        self.register_buffer("deviation", torch.ones(rows, 1))

    def normalise(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Normalise each row by the training set's mean and deviation; set padding to 0."""
        self.check(features, lengths)
        return _padded((features - self.mean) / self.deviation, lengths.to(features.device))

    def check(self, features: Tensor, lengths: Tensor) -> None:
        """Raise ValueError unless they are a batch of features and lengths."""
        shape = tuple(features.shape)
        if len(shape) != 3 or shape[1] != self.rows or not shape[2]:
            raise ValueError(f"speech of shape {shape}; this tower reads clips × {self.rows} {self.reads} × length")
        if tuple(lengths.shape) != shape[:1]:
            raise ValueError(f"{shape[0]} clips with lengths of shape {tuple(lengths.shape)}; there must be one a clip")

    def forward(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Map B × rows × columns, normalised, to B × embedding. Columns after a clip's end count as 0.

        Raises:
            ValueError: the shape is wrong, or there is not one length a clip.
        """
        self.check(features, lengths)
        # A clip without columns counts as one of zeros, so that its embedding is finite.
        lengths = lengths.to(features.device).clamp_min(1)
        return self.embed(_padded(features, lengths), lengths)

    @abstractmethod
    def embed(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Map features that are 0 after ``lengths`` (at least 1, same device) to B × embedding."""


class InceptionSpeech(SpeechTower):
    """Inception-ResNet-v2 over a clip's coefficients as an image; without a projection if ``embedding`` is 1536."""

    # Convolutions read beyond a clip's end even if pooling does not.
    padding_counts = True
    cpu_batch = 4

    def __init__(self, coefficients: int, embedding: int, dropout: float, *, pool_padding: bool, momentum: float) -> None:
        super().__init__(coefficients)
        self.pool_padding = pool_padding
        self.network = InceptionResnetV2(classes=0)
        set_momentum(self.network, momentum)
        self.dropout = nn.Dropout(dropout)
        self.project = nn.Linear(WIDTH, embedding) if embedding != WIDTH else nn.Identity()

    def embed(self, features: Tensor, lengths: Tensor) -> Tensor:
        # Shorter clips would have an empty feature map, so they are padded to the minimum.
        features = F.pad(features, (0, max(0, LEAST_SIDE - features.shape[2])))
        feature_map = self.network.features(features[:, None].expand(-1, 3, -1, -1))
        if self.pool_padding:
            return self.project(self.dropout(feature_map.mean((2, 3))))
        # As many columns as the clip has on its own; the last ones also read some padding.
        columns = cells(lengths.clamp_min(LEAST_SIDE)).clamp_max(feature_map.shape[3])
        columns_of_map = feature_map.mean(2)
        own = inside(columns_of_map, columns).to(feature_map.dtype)
        return self.project(self.dropout((columns_of_map * own[:, None]).sum(2) / columns[:, None]))


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
        # No bias: softmax is invariant to it.
        self.attention = nn.Linear(channels, 1, bias=False)
        self.project = nn.Linear(2 * channels, embedding)

    def embed(self, features: Tensor, lengths: Tensor) -> Tensor:
        return by_length(self._embed, features, lengths)

    def _embed(self, features: Tensor, lengths: Tensor) -> Tensor:
        hidden = features
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            hidden = norm(convolution(hidden).transpose(1, 2)).transpose(1, 2)
            lengths = (lengths - 1) // 2 + 1
            # Padding is zeroed after every layer, so that an embedding does not depend on the batch's longest clip.
            hidden = _padded(self.dropout(F.relu(hidden)), lengths)
        speech = inside(hidden, lengths)
        weights = self.attention(hidden.transpose(1, 2)).squeeze(2).masked_fill(~speech, float("-inf")).softmax(1)
        attended = torch.einsum("bct,bt->bc", hidden, weights.to(hidden.dtype))
        peaks = hidden.masked_fill(~speech[:, None], float("-inf")).amax(2)
        return self.project(self.dropout(torch.cat([attended, peaks], dim=1)))


def by_length(network: Callable[[Tensor, Tensor], Tensor], features: Tensor, lengths: Tensor) -> Tensor:
    """Return ``network(features, lengths)``, on a CPU of :data:`TOGETHER` clips of similar lengths at a time.

    On a CPU padding costs as much as speech, and the longest clip is several times as long as most. The network must treat clips
    as independent, so that results change by rounding only.
    """
    if features.device.type != "cpu" or len(lengths) <= TOGETHER:
        return network(features, lengths)
    order = lengths.argsort(stable=True)
    parts = [network(features[part, :, : int(lengths[part[-1]])], lengths[part]) for part in order.split(TOGETHER)]
    return torch.cat(parts)[order.argsort()]


def set_momentum(network: nn.Module, momentum: float) -> None:
    """Set the weight of each batch in the running statistics of the network's batch norms."""
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = momentum


def inside(features: Tensor, lengths: Tensor) -> Tensor:
    """Return which columns of B × rows × columns are a clip's own, B × columns."""
    return torch.arange(features.shape[2], device=features.device)[None] < lengths[:, None]


def _padded(features: Tensor, lengths: Tensor) -> Tensor:
    # Filled, not multiplied: values after a clip's end may be NaN.
    return features.masked_fill(~inside(features, lengths)[:, None], 0.0)


MIDDLE = 127.5
"""Pixels 0..255 are normalised as (x - MIDDLE) / MIDDLE."""


class ImageTower(nn.Module):
    """Base of the image towers."""

    cpu_batch = 1
    """Images that are embedded fastest together on a processor (``benchmarks/README.md``)."""


class EncodedImage(ImageTower):
    """Mean over a trained encoder's feature map, projected if its width differs from the embedding's."""

    # One at a time: 16 images together take twice the time an image on a processor.

    def __init__(self, encoder: ImageEncoder, embedding: int, dropout: float) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.kind.features
        self.dropout = nn.Dropout(dropout)
        self.project = nn.Linear(width, embedding) if embedding != width else nn.Identity()

    def forward(self, images: Tensor) -> Tensor:
        """Map B × 3 × side × side of 0..255 to B × embedding; raise ValueError for another shape."""
        return self.project(self.dropout(self.encoder.encode(images)[:, 0]))


class ConvolutionalImage(ImageTower):
    """Strided convolutions over a small image, mean and maximum pooling, and a projection."""

    cpu_batch = 16

    def __init__(self, side: int, embedding: int, dropout: float, *, channels: int, layers: int) -> None:
        super().__init__()
        self.side = side
        # Each layer has a quarter of the previous layer's positions and twice its channels.
        widths = [3] + [max(1, channels >> (layers - 1 - layer)) for layer in range(layers)]
        self.convolutions = nn.ModuleList(nn.Conv2d(a, b, 3, stride=2, padding=1) for a, b in itertools.pairwise(widths))
        # Normalised over one image's channels and positions, so that no image depends on its batch.
        self.norms = nn.ModuleList(nn.GroupNorm(1, width) for width in widths[1:])
        self.dropout = nn.Dropout(dropout)
        self.project = nn.Linear(2 * channels, embedding)

    def forward(self, images: Tensor) -> Tensor:
        """Map B × 3 × side × side of 0..255 to B × embedding; raise ValueError for another shape."""
        if images.dim() != 4 or images.shape[1:] != (3, self.side, self.side):
            raise ValueError(f"images of shape {tuple(images.shape)}; this tower reads batch × 3 × {self.side} × {self.side}")
        hidden = (images.float() - MIDDLE) / MIDDLE
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            hidden = self.dropout(F.relu(norm(convolution(hidden))))
        return self.project(torch.cat([hidden.mean((2, 3)), hidden.amax((2, 3))], dim=1))


class FeatureImage(ImageTower):
    """Two linear layers over one frozen feature vector an image."""

    cpu_batch = 64

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

    def forward(self, images: Tensor) -> Tensor:
        """Map B × image features, of any float dtype, to B × embedding; raise ValueError for another shape."""
        if images.dim() != 2 or images.shape[1] != self.features or not images.is_floating_point():
            raise ValueError(
                f"images of shape {tuple(images.shape)} in {images.dtype}; this tower reads B × {self.features} features"
            )
        return self.layers(images.float())
