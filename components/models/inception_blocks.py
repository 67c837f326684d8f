"""The blocks of Inception-ResNet-v2 (Szegedy et al. 2016, "Inception-v4, Inception-ResNet and the Impact of Residual Connections
on Learning", figures 3, 10 and 16–19; widths as in TF-slim's implementation).

B pictures or spectrograms, C channels, h × w px. Parameters are named as in timm, so that its weights can be loaded.
"""

from __future__ import annotations

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


def block35(scale: float = 0.17) -> Residual:
    """Inception-ResNet-A, 320 channels (on a grid of 35 × 35 for a picture of 299 px)."""
    one = ConvNorm(320, 32, 1)
    two = nn.Sequential(ConvNorm(320, 32, 1), ConvNorm(32, 32, 3, padding=1))
    three = nn.Sequential(ConvNorm(320, 32, 1), ConvNorm(32, 48, 3, padding=1), ConvNorm(48, 64, 3, padding=1))
    return Residual([one, two, three], 128, 320, scale)


def block17(scale: float = 0.10) -> Residual:
    """Inception-ResNet-B, 1088 channels (17 × 17)."""
    long = nn.Sequential(
        ConvNorm(1088, 128, 1), ConvNorm(128, 160, (1, 7), padding=(0, 3)), ConvNorm(160, 192, (7, 1), padding=(3, 0))
    )
    return Residual([ConvNorm(1088, 192, 1), long], 384, 1088, scale)


def block8(scale: float = 0.20, *, relu: bool = True) -> Residual:
    """Inception-ResNet-C, 2080 channels (8 × 8)."""
    long = nn.Sequential(
        ConvNorm(2080, 192, 1), ConvNorm(192, 224, (1, 3), padding=(0, 1)), ConvNorm(224, 256, (3, 1), padding=(1, 0))
    )
    return Residual([ConvNorm(2080, 192, 1), long], 448, 2080, scale, relu=relu)
