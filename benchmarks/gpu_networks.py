"""Networks of the GPU run: EfficientNet-lite0 from a flat array of weights, a captioner with its encoder, and views.

The machine of the GPU run may lack ``efficientnet_lite_pytorch``. :class:`Lite0` is the same network with its batch
normalisations folded into the convolutions, so that it has weights and biases only and trains faster. Fine-tuned statistics would
be those of small batches; the folded ones stay ImageNet's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from components.models.captioners.interface import CaptionNetwork
from components.models.encoders import ImageEncoder
from components.vision.training_images import DISTORTION, LEAST_AREA

STEM, FEATURES = 32, 1280
BLOCKS = (
    (3, 1, 1, 16, 1), (3, 2, 6, 24, 2), (5, 2, 6, 40, 2), (3, 2, 6, 80, 3), (5, 1, 6, 112, 3), (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
)  # fmt: skip
"""Kernel, first stride, expansion, channels and repeats of each row of EfficientNet's table 1 (Tan and Le 2019), as lite0."""


class PaddedConv(nn.Conv2d):
    """A convolution with TensorFlow's "same" padding: with stride 2 the right and lower sides get one pixel more."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> None:
        super().__init__(inputs, outputs, kernel, stride, kernel // 2 if stride == 1 else 0, groups=groups)

    def forward(self, x: Tensor) -> Tensor:
        """Map B × inputs × h × w, with even sides for stride 2, to B × outputs × h / stride × w / stride."""
        if self.stride[0] > 1:
            more = self.kernel_size[0] - 2
            x = F.pad(x, (more // 2, more - more // 2) * 2)
        return super().forward(x)


class InvertedResidual(nn.Sequential):
    """Expand, filter each channel, and project without activation; added to the input where the shapes agree."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        width = inputs * expansion
        expand: list[nn.Module] = [PaddedConv(inputs, width, 1), nn.ReLU6(inplace=True)] if expansion > 1 else []
        depthwise = PaddedConv(width, width, kernel, stride, groups=width)
        super().__init__(*expand, depthwise, nn.ReLU6(inplace=True), PaddedConv(width, outputs, 1))
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """Map B × inputs × h × w to B × outputs × h / stride × w / stride."""
        out: Tensor = super().forward(x)
        return x + out if self.adds else out


class Lite0(nn.Module):
    """EfficientNet-lite0 without its classifier, batch normalisations folded."""

    def __init__(self, weights: NDArray[np.floating[Any]] | None = None) -> None:
        """Load ``weights``, the flat array of :func:`flat_weights`; None keeps random ones.

        Raises:
            ValueError: the array has another length.
        """
        super().__init__()
        layers: list[nn.Module] = [PaddedConv(3, STEM, 3, 2), nn.ReLU6(inplace=True)]
        channels = STEM
        for kernel, stride, expansion, outputs, repeats in BLOCKS:
            for number in range(repeats):
                layers.append(InvertedResidual(channels, outputs, kernel, 1 if number else stride, expansion))
                channels = outputs
        self.layers = nn.Sequential(*layers, PaddedConv(channels, FEATURES, 1), nn.ReLU6(inplace=True))
        if weights is None:
            return
        parameters = list(self.parameters())
        count = sum(parameter.numel() for parameter in parameters)
        if len(weights) != count:
            raise ValueError(f"{len(weights)} weights for EfficientNet-lite0, which has {count}")
        parts = np.split(weights.astype(np.float32), np.cumsum([parameter.numel() for parameter in parameters])[:-1])
        with torch.no_grad():
            for parameter, part in zip(parameters, parts, strict=True):
                parameter.copy_(torch.from_numpy(part).view_as(parameter))

    def extract_features(self, x: Tensor) -> Tensor:
        """Map B × 3 × h × w, (pixel - 127) / 128, sides multiples of 32, to B × 1280 × h / 32 × w / 32."""
        features: Tensor = self.layers(x)
        return features


def flat_weights(folded: nn.Module) -> NDArray[np.float32]:
    """Return the weights of ``fold_batch_norms(load_backbone())`` without its classifier, in :class:`Lite0`'s order."""
    return np.concatenate([value.numpy().ravel() for name, value in folded.state_dict().items() if not name.startswith("_fc.")])


def lite0_encoder(weights: NDArray[np.floating[Any]], side: int) -> ImageEncoder:
    """Return the encoder of images of ``side`` px, trainable."""
    return ImageEncoder("efficientnet_lite0", Lite0(weights), side)


class Captioner(nn.Module):
    """A captioning network with the encoder that is trained with it."""

    def __init__(self, network: CaptionNetwork, encoder: ImageEncoder) -> None:
        super().__init__()
        self.network, self.encoder = network, encoder

    def see(self, pixels: Tensor) -> Tensor:
        """Map B × 3 × side × side of 0..255 to the network's input, B × L × F."""
        return self.choose(self.encoder.encode(pixels))

    def choose(self, vectors: Tensor) -> Tensor:
        """Return what the network reads of B × (1 + cells) × F: the cells, or their mean."""
        return vectors[:, 1:] if self.network.config.grid else vectors[:, :1]


def whole_views(pixels: Tensor, side: int) -> Tensor:
    """Return images (B × 3 × s × s, uint8) resized to ``side``: floats of 0..255."""
    return F.interpolate(pixels.float(), (side, side), mode="bilinear", align_corners=False)


def random_views(pixels: Tensor, side: int) -> Tensor:
    """Return a random crop of each image (B × 3 × s × s, uint8), half of them mirrored, with changed brightness and contrast.

    Crops have 50 to 100 % of the area (CC §5.2). All is computed where the pixels are, and in float32, because in bfloat16 a
    crop's place would be off by a pixel.
    """
    count, device = len(pixels), pixels.device
    share = torch.empty(count, device=device).uniform_(LEAST_AREA, 1.0).sqrt()
    x, y = ((torch.rand(count, device=device) * 2 - 1) * (1 - share) for _ in range(2))
    mirrored = torch.where(torch.rand(count, device=device) < 0.5, -share, share)
    zero = torch.zeros_like(share)
    windows = torch.stack([torch.stack([mirrored, zero, x], 1), torch.stack([zero, share, y], 1)], 1)
    with torch.autocast(device.type, enabled=False):
        grid = F.affine_grid(windows, [count, 3, side, side], align_corners=False)
        views = F.grid_sample(pixels.float(), grid, mode="bilinear", padding_mode="border", align_corners=False)
    brightness, contrast = torch.empty(2, count, 1, 1, 1, device=device).uniform_(1 - DISTORTION, 1 + DISTORTION)
    mean = views.mean((1, 2, 3), keepdim=True)
    return (((views - mean) * contrast + mean) * brightness).clamp_(0, 255)
