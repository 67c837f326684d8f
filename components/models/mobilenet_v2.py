"""MobileNetV2 (Sandler et al. 2018) at width 1, with torchvision's names of parameters and buffers.

The encoder of PCV §4.3.2, which compares posts' images by its 1,280 values. Torch only; no weights are included.
"""

from __future__ import annotations

from torch import Tensor, nn

WIDTH = 1280
"""Channels of the last feature map."""
BLOCKS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""Expansion, channels, blocks and first stride of each row of the paper's table 2."""


class ConvNorm(nn.Sequential):
    """A convolution without bias, batch normalisation and ReLU6."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> None:
        convolution = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
        super().__init__(convolution, nn.BatchNorm2d(outputs), nn.ReLU6(inplace=True))


class InvertedResidual(nn.Module):
    """Expand, filter each channel, and project without activation; added to the input where the shapes agree."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        width = inputs * expansion
        self.adds = stride == 1 and inputs == outputs
        self.conv = nn.Sequential(
            *([ConvNorm(inputs, width, 1)] if expansion > 1 else []),
            ConvNorm(width, width, 3, stride, groups=width),
            nn.Conv2d(width, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map B × inputs × h × w to B × outputs × h' × w', halved with stride 2."""
        out: Tensor = self.conv(x)
        return x + out if self.adds else out


class MobileNetV2(nn.Module):
    """The network; ``features`` maps B × 3 × h × w to B × 1280 × h / 32 × w / 32, rounded up."""

    def __init__(self, classes: int = 1000) -> None:
        """``classes`` 0: no classifier, and so 2,223,872 parameters."""
        super().__init__()
        layers: list[nn.Module] = [ConvNorm(3, 32, 3, 2)]
        channels = 32
        for expansion, outputs, count, stride in BLOCKS:
            for number in range(count):
                layers.append(InvertedResidual(channels, outputs, 1 if number else stride, expansion))
                channels = outputs
        self.features = nn.Sequential(*layers, ConvNorm(channels, WIDTH, 1))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(WIDTH, classes)) if classes else None

    def forward(self, x: Tensor) -> Tensor:
        """Return logits, B × classes, or without a classifier the mean over the grid, B × 1280."""
        pooled: Tensor = self.features(x).mean((2, 3))
        return pooled if self.classifier is None else self.classifier(pooled)
