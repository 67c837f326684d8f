"""A folded network computes what the network computes."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from components.models.encoders import ENCODERS, ImageEncoder
from components.vision.classifier import load_backbone
from components.vision.folding import fold_batch_norms


def as_if_trained(network: nn.Module) -> None:
    """Let the normalisations do something."""
    source = torch.Generator().manual_seed(1)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d) and module.running_mean is not None and module.running_var is not None:
            module.running_mean.normal_(0.0, 0.2, generator=source)
            module.running_var.uniform_(0.5, 2.0, generator=source)


@pytest.mark.long
@pytest.mark.parametrize("name", ENCODERS)
def test_a_folded_encoder_gives_the_same_vectors(name: str) -> None:
    packaged = name == "efficientnet_lite0"
    encoder = ImageEncoder(name, load_backbone() if packaged else None, side=128).eval().requires_grad_(False)
    if not packaged:
        as_if_trained(encoder)
    pixels = torch.randint(0, 256, (2, 3, 128, 128), generator=torch.Generator().manual_seed(2))
    expected = encoder.encode(pixels)
    normalisations = sum(isinstance(module, nn.BatchNorm2d) for module in encoder.modules())
    fold_batch_norms(encoder.network)
    assert normalisations >= 40 and not any(isinstance(module, nn.BatchNorm2d) for module in encoder.modules())
    torch.testing.assert_close(encoder.encode(pixels), expected, rtol=1e-4, atol=1e-4 * float(expected.abs().max()))


def test_a_network_in_training_is_refused() -> None:
    with pytest.raises(ValueError, match="training mode"):
        fold_batch_norms(nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)))
