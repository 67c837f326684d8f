"""Inception-ResNet-v2, the encoder of CC (§4) and of both towers of CSC.

Szegedy et al. 2016, "Inception-v4, Inception-ResNet and the Impact of Residual Connections on Learning", figures 3, 10 and 16–19;
widths as in TF-slim's implementation. In the blocks: B images or spectrograms, C channels, h × w px.

Stem without padding → mixed_5b → 10 × block35 → mixed_6a → 20 × block17 → mixed_7a → 9 × block8, and a tenth with scale 1 and
without ReLU → 1 × 1 convolution to 1536. 244 convolutions, 204 batch norms, 55,843,464 parameters with 1000 classes. Parameters
are named as in timm, so ``components.models.weights.load_weights`` reads timm's files. New weights have torch's default
initialisation. Mirroring, cropping and other pooling are not in scope.
"""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

EPSILON = 1e-3
"""Epsilon of every batch norm (TF-slim's); torch's default is 1e-5."""

Size = int | tuple[int, int]


class ConvNorm(nn.Module):
    """Convolution without bias, batch norm, ReLU: B × C × h × w → B × C' × h' × w'."""

    def __init__(self, inputs: int, outputs: int, kernel: Size, stride: int = 1, padding: Size = 0) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False)
        self.bn = nn.BatchNorm2d(outputs, eps=EPSILON)

    def forward(self, x: Tensor) -> Tensor:
        # In place: no gradient needs the batch norm's output.
        return F.relu_(self.bn(self.conv(x)))


class Mixed5b(nn.Module):
    """The first inception block, at the end of the stem: B × 192 × h × w → B × 320 × h × w."""

    def __init__(self) -> None:
        super().__init__()
        self.branch0 = ConvNorm(192, 96, 1)
        self.branch1 = nn.Sequential(ConvNorm(192, 48, 1), ConvNorm(48, 64, 5, padding=2))
        self.branch2 = nn.Sequential(ConvNorm(192, 64, 1), ConvNorm(64, 96, 3, padding=1), ConvNorm(96, 96, 3, padding=1))
        # At an edge the mean leaves out the padding.
        pool = nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)
        self.branch3 = nn.Sequential(pool, ConvNorm(192, 64, 1))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.branch0(x), self.branch1(x), self.branch2(x), self.branch3(x)], 1)


class Mixed6a(nn.Module):
    """Reduction, B × 320 × h × w → B × 1088 × (h - 1) // 2 × (w - 1) // 2."""

    def __init__(self) -> None:
        super().__init__()
        self.branch0 = ConvNorm(320, 384, 3, stride=2)
        self.branch1 = nn.Sequential(ConvNorm(320, 256, 1), ConvNorm(256, 256, 3, padding=1), ConvNorm(256, 384, 3, stride=2))
        self.branch2 = nn.MaxPool2d(3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.branch0(x), self.branch1(x), self.branch2(x)], 1)


class Mixed7a(nn.Module):
    """Reduction, B × 1088 × h × w → B × 2080 × (h - 1) // 2 × (w - 1) // 2."""

    def __init__(self) -> None:
        super().__init__()
        self.branch0 = nn.Sequential(ConvNorm(1088, 256, 1), ConvNorm(256, 384, 3, stride=2))
        self.branch1 = nn.Sequential(ConvNorm(1088, 256, 1), ConvNorm(256, 288, 3, stride=2))
        self.branch2 = nn.Sequential(ConvNorm(1088, 256, 1), ConvNorm(256, 288, 3, padding=1), ConvNorm(288, 320, 3, stride=2))
        self.branch3 = nn.MaxPool2d(3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.branch0(x), self.branch1(x), self.branch2(x), self.branch3(x)], 1)


class Residual(nn.Module):
    """x + scale · up(branches of x), then ReLU except in the network's last block: B × C × h × w → the same.

    ``up`` (here ``conv2d``) is a 1 × 1 convolution with a bias and no batch norm. The small scale keeps training
    stable (section 3.3 of the paper).
    """

    def __init__(self, branches: list[nn.Module], inner: int, width: int, scale: float, *, relu: bool = True) -> None:
        super().__init__()
        self.scale, self.relu = scale, relu
        self.branches = [f"branch{number}" for number in range(len(branches))]
        for name, branch in zip(self.branches, branches, strict=True):
            self.add_module(name, branch)
        self.conv2d = nn.Conv2d(inner, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        features = torch.cat([getattr(self, name)(x) for name in self.branches], 1)
        # In place and in this order: as fast as one fused operation, with the rounding of separate ones.
        out = self.conv2d(features).mul_(self.scale).add_(x)
        return F.relu_(out) if self.relu else out


def block35() -> Residual:
    """Inception-ResNet-A, 320 channels (on a grid of 35 × 35 for an image of 299 px)."""
    one = ConvNorm(320, 32, 1)
    two = nn.Sequential(ConvNorm(320, 32, 1), ConvNorm(32, 32, 3, padding=1))
    three = nn.Sequential(ConvNorm(320, 32, 1), ConvNorm(32, 48, 3, padding=1), ConvNorm(48, 64, 3, padding=1))
    return Residual([one, two, three], 128, 320, 0.17)


def block17() -> Residual:
    """Inception-ResNet-B, 1088 channels (17 × 17)."""
    long = nn.Sequential(
        ConvNorm(1088, 128, 1), ConvNorm(128, 160, (1, 7), padding=(0, 3)), ConvNorm(160, 192, (7, 1), padding=(3, 0))
    )
    return Residual([ConvNorm(1088, 192, 1), long], 384, 1088, 0.10)


def block8(scale: float = 0.20, *, relu: bool = True) -> Residual:
    """Inception-ResNet-C, 2080 channels (8 × 8)."""
    long = nn.Sequential(
        ConvNorm(2080, 192, 1), ConvNorm(192, 224, (1, 3), padding=(0, 1)), ConvNorm(224, 256, (3, 1), padding=(1, 0))
    )
    return Residual([ConvNorm(2080, 192, 1), long], 448, 2080, scale, relu=relu)


WIDTH = 1536
"""F, the channels of the last feature map."""
LEAST_SIDE = 75
"""Minimum side in px; a smaller one leaves an empty feature map."""
STAGES = (
    *("conv2d_1a", "conv2d_2a", "conv2d_2b", "maxpool_3a", "conv2d_3b", "conv2d_4a", "maxpool_5a", "mixed_5b"),
    *("repeat", "mixed_6a", "repeat_1", "mixed_7a", "repeat_2", "block8", "conv2d_7b"),
)
"""Stages in execution order; attributes of the network and keys of :meth:`InceptionResnetV2.stages`."""
Side = TypeVar("Side", int, Tensor)


class InceptionResnetV2(nn.Module):
    """The network. ``channels``: 3 for images, 1 for MFCCs (h coefficients × w frames)."""

    def __init__(self, classes: int = 1000, channels: int = 3) -> None:
        """``classes`` 0: no classifier, and so 54,306,464 parameters."""
        super().__init__()
        self.classes, self.channels = classes, channels
        self.conv2d_1a = ConvNorm(channels, 32, 3, stride=2)
        self.conv2d_2a = ConvNorm(32, 32, 3)
        self.conv2d_2b = ConvNorm(32, 64, 3, padding=1)
        self.maxpool_3a = nn.MaxPool2d(3, stride=2)
        self.conv2d_3b = ConvNorm(64, 80, 1)
        self.conv2d_4a = ConvNorm(80, 192, 3)
        self.maxpool_5a = nn.MaxPool2d(3, stride=2)
        self.mixed_5b = Mixed5b()
        self.repeat = nn.Sequential(*(block35() for _ in range(10)))
        self.mixed_6a = Mixed6a()
        self.repeat_1 = nn.Sequential(*(block17() for _ in range(20)))
        self.mixed_7a = Mixed7a()
        self.repeat_2 = nn.Sequential(*(block8() for _ in range(9)))
        self.block8 = block8(1.0, relu=False)
        self.conv2d_7b = ConvNorm(2080, WIDTH, 1)
        self.classif = nn.Linear(WIDTH, classes) if classes else None

    def features(self, x: Tensor) -> Tensor:
        """Return the last feature map: B × channels × h × w → B × 1536 × h' × w', with h' and w' from :func:`grid`.

        Raises:
            ValueError: the shape or number of channels is wrong, or a side is smaller than :data:`LEAST_SIDE`.
        """
        self._check(x)
        for name in STAGES:
            x = getattr(self, name)(x)
        return x

    def stages(self, x: Tensor) -> dict[str, Tensor]:
        """Return the output of each of :data:`STAGES` by name; errors as :meth:`features`."""
        self._check(x)
        outputs: dict[str, Tensor] = {}
        for name in STAGES:
            x = outputs[name] = getattr(self, name)(x)
        return outputs

    def forward(self, x: Tensor) -> Tensor:
        """Return logits, B × classes, or without a classifier the mean over the grid, B × 1536; errors as :meth:`features`."""
        pooled = self.features(x).mean((2, 3))
        return pooled if self.classif is None else self.classif(pooled)

    def _check(self, x: Tensor) -> None:
        if x.dim() != 4 or x.shape[1] != self.channels:
            raise ValueError(f"input of shape {tuple(x.shape)}; the network reads batch × {self.channels} × height × width")
        grid(x.shape[2], x.shape[3])


def grid(height: int, width: int) -> tuple[int, int]:
    """Return rows and columns of the last feature map of ``height`` × ``width`` px: 299² → 8 × 8, 128 × 350 → 2 × 9.

    Raises:
        ValueError: a side is smaller than :data:`LEAST_SIDE`.
    """
    if min(height, width) < LEAST_SIDE:
        raise ValueError(f"{height} × {width} px leave no feature map; Inception-ResNet-v2 needs at least {LEAST_SIDE} px a side")
    return cells(height), cells(width)


def cells(side: Side) -> Side:
    """Return the rows or columns of a side in px (at least :data:`LEAST_SIDE`; an int, or an integer tensor elementwise)."""
    # conv2d_1a, 2a, maxpool_3a, conv2d_4a, maxpool_5a, mixed_6a, mixed_7a: a stride of 2 or 1, kernels of 3, no padding.
    for stride in (2, 1, 2, 1, 2, 2, 2):
        side = (side - 3) // stride + 1
    return side
