"""Inception-ResNet-v2, the encoder of CC (§4) and of both towers of CSC.

Stem without padding → mixed_5b → 10 × block35 → mixed_6a → 20 × block17 → mixed_7a → 9 × block8, and a tenth with scale 1 and
without ReLU → 1 × 1 convolution to 1536. 244 convolutions, 204 batch norms, 55,843,464 parameters with 1000 classes. Parameters
are named as in timm, so ``components.models.weights.load_weights`` reads timm's files. New weights have torch's default
initialisation. Mirroring, cropping and other pooling are not in scope.
"""

from __future__ import annotations

from typing import TypeVar

from torch import Tensor, nn

from components.models.inception_blocks import ConvNorm, Mixed5b, Mixed6a, Mixed7a, block8, block17, block35

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
    """The network. ``channels``: 3 for pictures, 1 for MFCCs (h coefficients × w frames)."""

    def __init__(self, classes: int = 1000, channels: int = 3, dropout: float = 0.0) -> None:
        """``classes`` 0: no classifier, and so 54,306,464 parameters; ``dropout`` is before the classifier."""
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
        self.dropout = nn.Dropout(dropout)
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
        pooled = self.dropout(self.features(x).mean((2, 3)))
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
