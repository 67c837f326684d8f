"""An image encoder and a captioning network as one module; the encoder is absent for precomputed features."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from components.models.captioners.interface import CaptionNetwork


class ImageCaptioner(nn.Module):
    """Maps pictures or frozen features to the captioning network's input.

    Args:
        network: the captioning network.
        encoder: its ``encode`` maps B × 3 × side × side of 0..255 to B × (1 + cells) × F, the whole picture's vector first
            (:class:`components.models.encoders.ImageEncoder`); None if it is not trained.
    """

    def __init__(self, network: CaptionNetwork, encoder: nn.Module | None = None) -> None:
        super().__init__()
        self.network, self.encoder = network, encoder

    def see(self, features: Tensor) -> Tensor:
        """Return the network's input, B × L × F: the grid's cells row by row, or their mean alone.

        Args:
            features: B × L × F of any float dtype, converted to float32; or pictures, B × 3 × side × side, uint8.

        Raises:
            ValueError: pictures are given and there is no encoder.
        """
        if features.dtype != torch.uint8:
            return features.float()
        if self.encoder is None:
            raise ValueError("this captioner reads a frozen encoder's features, not pictures")
        encode: Callable[[Tensor], Tensor] = self.encoder.encode  # type: ignore[assignment]
        vectors = encode(features)
        return vectors[:, 1:] if self.network.config.grid else vectors[:, :1]
