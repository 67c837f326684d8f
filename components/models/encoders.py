"""Image encoders by name: their input images and their output vectors.

An encoder is a network with a feature map, plus the side and pixel range it was trained on. Its output is the input of captioners
and dual encoders: a vector of the whole image, then one for each grid cell (CC, figure 4: 1×1 and 8×8). Inception-ResNet-v2
and MobileNetV2 are built here; other networks are passed in by the provider of their weights
(``components/vision/image_encoders.py``). Reading and
cropping images is not in scope.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from components.models.inception_resnet_v2 import WIDTH, InceptionResnetV2, grid
from components.models.mobilenet_v2 import WIDTH as MOBILE_WIDTH
from components.models.mobilenet_v2 import MobileNetV2


def _strided(height: int, width: int) -> tuple[int, int]:
    # EfficientNet's padding is computed for the side it is built for, and is right for multiples of 32 only.
    if min(height, width) < 32 or height % 32 or width % 32:
        raise ValueError(f"{height} × {width} px; efficientnet_lite0 and mobilenet_v2 need multiples of 32 px")
    return height // 32, width // 32


def _efficient_modules(network: Any) -> list[nn.Module]:
    stem = [network._conv_stem, network._bn0, network._swish]
    return [*stem, *network._blocks, network._conv_head, network._bn1, network._swish]


@dataclass(frozen=True)
class EncoderKind:
    """Properties of an encoder that are known before it is loaded."""

    name: str
    side: int
    """Side in px of a square image with an 8 × 8 grid."""
    mean: float | tuple[float, ...]
    """Mean of pixels 0..255, of all channels or of each; the network reads (pixel - mean) / scale."""
    scale: float | tuple[float, ...]
    """See ``mean``."""
    features: int
    """F, channels of the feature map."""
    method: str
    """Name of the network's method for the feature map: B × 3 × h × w → B × F × h' × w'."""
    cells: Callable[[int, int], tuple[int, int]]
    """(height, width) in px → rows and columns of the feature map; raises ValueError for sizes without one."""
    modules: Callable[[nn.Module], Sequence[nn.Module]] = lambda network: ()
    """A network → the modules that make its feature map one after another, if it is such a sequence."""
    after: int = 0
    """How many of these follow the last block."""
    last_blocks: int = 0
    """Blocks before them whose input has the feature map's rows and columns, so that they can be trained over cached input."""

    def grid(self, side: int = 0) -> tuple[int, int]:
        """Return rows and columns for an image of ``side`` px (0: the encoder's default).

        Raises:
            ValueError: the encoder cannot read images of that side.
        """
        return self.cells(side or self.side, side or self.side)

    def normalise(self, pixels: Tensor) -> Tensor:
        """Map pixels of 0..255, B × 3 × h × w (bytes or floats, RGB), to what the network reads."""
        mean, scale = (
            value if isinstance(value, float) else torch.tensor(value, device=pixels.device)[:, None, None]
            for value in (self.mean, self.scale)
        )
        return (pixels.float() - mean) / scale


BUILT_IN: dict[str, Callable[[], nn.Module]] = {
    "inception_resnet_v2": lambda: InceptionResnetV2(classes=0),
    "mobilenet_v2": lambda: MobileNetV2(classes=0),
}
"""Encoder → its network without a classifier, for those built here."""
ENCODERS = {
    kind.name: kind
    for kind in (
        # Mean and deviation .5 of 0..1.
        EncoderKind("inception_resnet_v2", 299, 127.5, 127.5, WIDTH, "features", grid),
        EncoderKind("efficientnet_lite0", 256, 127.0, 128.0, 1280, "extract_features", _strided, _efficient_modules, 3, 4),
        # torchvision's mean and deviation of ImageNet, of 0..255.
        EncoderKind("mobilenet_v2", 256, (123.675, 116.28, 103.53), (58.395, 57.12, 57.375), MOBILE_WIDTH, "features", _strided),
    )
}


def encoder_kind(name: str) -> EncoderKind:
    """Return the encoder of that name; raise ValueError for an unknown one."""
    if name not in ENCODERS:
        raise ValueError(f"'{name}' is not an image encoder; choose one of {', '.join(ENCODERS)}")
    return ENCODERS[name]


class ImageEncoder(nn.Module):
    """A network as an encoder of square images; its parameters may be trained or frozen."""

    def __init__(self, name: str, network: nn.Module | None = None, side: int = 0, without: int = 0) -> None:
        """Wrap ``network``, which has the method of its kind; None for a new one of :data:`BUILT_IN`.

        Args:
            without: number of last blocks to leave out: the vectors are then the input of :class:`LastBlocks`.

        Raises:
            ValueError: the name is unknown, images of ``side`` px cannot be read, the network lacks the method, or it has fewer
                blocks that can be left out.
        """
        super().__init__()
        self.kind = encoder_kind(name)
        self.side = side or self.kind.side
        self.grid = self.kind.grid(self.side)
        if network is None:
            if name not in BUILT_IN:
                raise ValueError(f"{name} has no built-in network: pass one")
            network = BUILT_IN[name]()
        if not callable(getattr(network, self.kind.method, None)):
            raise ValueError(f"{type(network).__name__} has no method {self.kind.method}, so it is not {name}")
        self.network = network
        self.without = without

    @property
    def vectors(self) -> int:
        """Vectors an image: 1 + cells."""
        return 1 + self.grid[0] * self.grid[1]

    def encode(self, pixels: Tensor) -> Tensor:
        """Map B × 3 × side × side of 0..255 (bytes or floats, RGB) to B × (1 + cells) × F: the mean, then the cells row by
        row.

        Raises:
            ValueError: ``pixels`` has another shape.
        """
        if pixels.dim() != 4 or pixels.shape[1:] != (3, self.side, self.side):
            raise ValueError(
                f"pixels of shape {tuple(pixels.shape)}; {self.kind.name} reads batch × 3 × {self.side} × {self.side}"
            )
        normalised = self.kind.normalise(pixels)
        if not self.without:
            return _vectors(getattr(self.network, self.kind.method)(normalised))
        for module in split_modules(self.kind, self.network, self.without)[0]:
            normalised = module(normalised)
        return _vectors(normalised)

    def forward(self, pixels: Tensor) -> Tensor:
        """See :meth:`encode`."""
        return self.encode(pixels)


class LastBlocks(nn.Module):
    """The last blocks of an encoder, trained with a captioner over what the blocks before them made of each image.

    Args:
        encoder: with its weights, in evaluation mode; its batch norms should be folded, since a batch of few images cannot
            estimate their statistics.
        blocks: how many.

    Raises:
        ValueError: the encoder has fewer blocks that can be trained so.
    """

    def __init__(self, encoder: ImageEncoder, blocks: int) -> None:
        super().__init__()
        self.grid = encoder.grid
        self.modules_in_order = nn.Sequential(*split_modules(encoder.kind, encoder.network, blocks)[1])

    def encode(self, cells: Tensor) -> Tensor:
        """Map the cells' vectors, B × cells × C, to B × (1 + cells) × F: the mean, then the cells row by row."""
        channels_first = cells.transpose(1, 2).unflatten(2, self.grid).contiguous(memory_format=torch.channels_last)
        return _vectors(self.modules_in_order(channels_first))


def split_modules(kind: EncoderKind, network: nn.Module, blocks: int) -> tuple[list[nn.Module], list[nn.Module]]:
    """Return the modules before an encoder's last blocks, and these blocks with what follows them.

    Raises:
        ValueError: the encoder has fewer blocks whose input has the feature map's rows and columns.
    """
    if not 1 <= blocks <= kind.last_blocks:
        raise ValueError(f"{kind.name} has {kind.last_blocks} last blocks that can be trained over cached input, not {blocks}")
    modules = list(kind.modules(network))
    cut = len(modules) - kind.after - blocks
    return modules[:cut], modules[cut:]


def _vectors(feature_map: Tensor) -> Tensor:
    """Return B × (1 + cells) × F of B × F × rows × columns: the mean, then the cells row by row."""
    cells = feature_map.flatten(2).transpose(1, 2)
    return torch.cat([cells.mean(1, keepdim=True), cells], 1)
