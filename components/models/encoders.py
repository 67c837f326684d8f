"""Image encoders by name: what a picture must be made into for each, and what each makes of it.

An encoder is a network that gives a feature map, with the side and the range of pixels it was trained on. Its output is
what captioners and dual encoders read: a vector of the whole picture, then one for each cell of the grid (CC, figure 4:
1×1 and 8×8). Inception-ResNet-v2 is built here; another network is handed in, for its weights are a provider's business
(``components/vision/image_encoders.py``). Not in scope: reading and cropping pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from components.models.inception_resnet_v2 import WIDTH, InceptionResnetV2, grid


def _strided(height: int, width: int) -> tuple[int, int]:
    # EfficientNet's padding is worked out for the side it was built for; it holds for these sides and no others.
    if min(height, width) < 32 or height % 32 or width % 32:
        raise ValueError(f"{height} × {width} px; efficientnet_lite0 needs multiples of 32 px")
    return height // 32, width // 32


@dataclass(frozen=True)
class EncoderKind:
    """What there is to know of an encoder before it is loaded."""

    name: str
    side: int
    """px of a square picture, such that the grid is 8 × 8."""
    mean: float
    """Of pixels 0..255; with ``scale`` what the network's weights were trained on: (pixel - mean) / scale."""
    scale: float
    """See ``mean``."""
    features: int
    """F, channels of the feature map."""
    method: str
    """The network's method that gives the feature map: B × 3 × h × w → B × F × h' × w'."""
    cells: Callable[[int, int], tuple[int, int]]
    """(height, width) in px → rows and columns of the feature map; ValueError where there is none."""

    def grid(self, side: int = 0) -> tuple[int, int]:
        """Rows and columns for a picture of ``side`` px (0: the encoder's own).

        Raises:
            ValueError: the encoder cannot read pictures of that side.
        """
        return self.cells(side or self.side, side or self.side)


ENCODERS = {
    kind.name: kind
    for kind in (
        # Mean and deviation .5 of 0..1.
        EncoderKind("inception_resnet_v2", 299, 127.5, 127.5, WIDTH, "features", grid),
        EncoderKind("efficientnet_lite0", 256, 127.0, 128.0, 1280, "extract_features", _strided),
    )
}
"""Every encoder, by its name."""


def encoder_kind(name: str) -> EncoderKind:
    """The encoder of that name; ValueError when there is none."""
    if name not in ENCODERS:
        raise ValueError(f"'{name}' is no image encoder; there are {', '.join(ENCODERS)}")
    return ENCODERS[name]


class ImageEncoder(nn.Module):
    """A network as an encoder of square pictures. Its parameters are the network's, to be trained or frozen."""

    def __init__(self, name: str, network: nn.Module | None = None, side: int = 0) -> None:
        """``network``: one with the method that its kind names, or none for a new Inception-ResNet-v2.

        Raises:
            ValueError: no encoder of that name, or it cannot read pictures of ``side`` px, or it is not this network.
        """
        super().__init__()
        self.kind = encoder_kind(name)
        self.side = side or self.kind.side
        self.grid = self.kind.grid(self.side)
        if network is None:
            if name != "inception_resnet_v2":
                raise ValueError(f"{name} is not built here: hand in its network")
            network = InceptionResnetV2(classes=0)
        if not callable(getattr(network, self.kind.method, None)):
            raise ValueError(f"{type(network).__name__} has no method {self.kind.method}, and so is no {name}")
        self.network = network

    @property
    def vectors(self) -> int:
        """1 + cells: the vectors of a picture."""
        return 1 + self.grid[0] * self.grid[1]

    def encode(self, pixels: Tensor) -> Tensor:
        """B × 3 × side × side of 0..255 (bytes or floats, RGB) → B × (1 + cells) × F: the mean, then the cells row by row.

        Raises:
            ValueError: ``pixels`` have another shape.
        """
        if pixels.dim() != 4 or pixels.shape[1:] != (3, self.side, self.side):
            raise ValueError(
                f"pixels of shape {tuple(pixels.shape)}; {self.kind.name} reads batch × 3 × {self.side} × {self.side}"
            )
        found: Tensor = getattr(self.network, self.kind.method)((pixels.float() - self.kind.mean) / self.kind.scale)
        cells = found.flatten(2).transpose(1, 2)
        return torch.cat([cells.mean(1, keepdim=True), cells], 1)

    def forward(self, pixels: Tensor) -> Tensor:
        """As :meth:`encode`."""
        return self.encode(pixels)
