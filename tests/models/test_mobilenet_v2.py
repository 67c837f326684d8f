"""MobileNetV2 against what is known of torchvision's; with its weights the logits were equal (torchvision 0.28.0)."""

from __future__ import annotations

import hashlib

import torch

from components.models.mobilenet_v2 import MobileNetV2

NAMES_AND_SHAPES = "e3eb10f890f74c6ee65e79c53b1a3c9ee5dd5c8d8eb4ec3185d92cbea9d47b89"
"""sha256 of the lines ``name shape`` of the 314 parameters and buffers of torchvision 0.28.0's network, sorted."""


def count(network: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def test_parameters_names_and_shapes_are_torchvisions() -> None:
    with torch.device("meta"):
        network, bare = MobileNetV2(), MobileNetV2(classes=0)
    assert count(network) == 3_504_872 and count(bare) == 2_223_872
    lines = sorted(f"{name} {tuple(value.shape)}" for name, value in network.state_dict().items())
    assert len(lines) == 314
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == NAMES_AND_SHAPES


def test_the_map_has_a_cell_for_each_32_pixels_and_a_gradient_reaches_every_parameter() -> None:
    torch.manual_seed(0)
    network = MobileNetV2(classes=3)
    images = torch.randn(2, 3, 64, 96)
    assert network.features(images).shape == (2, 1280, 2, 3)
    network(images).logsumexp(1).sum().backward()
    assert all(value.grad is not None and value.grad.abs().sum() > 0 for value in network.parameters())
