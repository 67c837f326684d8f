"""Inception-ResNet-v2 against what is known of it; ``benchmarks/README.md``: it computes what timm's does."""

from __future__ import annotations

import hashlib

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from components.models.inception_resnet_v2 import (
    LEAST_SIDE,
    STAGES,
    WIDTH,
    InceptionResnetV2,
    Mixed5b,
    Residual,
    block8,
    block17,
    block35,
    grid,
)

NAMES_AND_SHAPES = "dda8091d0fca70408a660ff5640b16fbdfe770e1b63d4eab85c03db44abfbdaf"
"""sha256 of the lines ``name shape`` of the 1,306 parameters and buffers of timm 1.0.31's network, sorted."""


@pytest.fixture(scope="module")
def outline() -> InceptionResnetV2:
    """The network without memory for its weights: shapes only."""
    with torch.device("meta"):
        return InceptionResnetV2()


@pytest.fixture(scope="module")
def small() -> InceptionResnetV2:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return InceptionResnetV2(classes=0, channels=1).eval()


def count(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def modules(network: nn.Module, kind: type[nn.Module]) -> dict[str, nn.Module]:
    return {name: module for name, module in network.named_modules() if isinstance(module, kind)}


def test_parameters_convolutions_and_batch_norms_are_as_many_as_published(outline: InceptionResnetV2) -> None:
    assert count(outline) == 55_843_464
    assert len(modules(outline, nn.Conv2d)) == 244 and len(modules(outline, nn.BatchNorm2d)) == 204
    with torch.device("meta"):
        assert count(InceptionResnetV2(classes=0)) == 54_306_464


def test_names_and_shapes_are_timms(outline: InceptionResnetV2) -> None:
    lines = sorted(f"{name} {tuple(value.shape)}" for name, value in outline.state_dict().items())
    assert len(lines) == 1306
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == NAMES_AND_SHAPES


def test_only_up_projections_have_a_bias_and_batch_norms_share_one_epsilon(outline: InceptionResnetV2) -> None:
    biased = [name for name, conv in modules(outline, nn.Conv2d).items() if conv.bias is not None]
    assert len(biased) == 40 and all(name.endswith(".conv2d") for name in biased)
    assert {norm.eps for norm in modules(outline, nn.BatchNorm2d).values()} == {1e-3}


def test_each_stage_has_its_channels_and_grid_at_299_px(outline: InceptionResnetV2) -> None:
    given = outline.stages(torch.empty(1, 3, 299, 299, device="meta"))
    result = {name: (value.shape[1], value.shape[2]) for name, value in given.items()}
    assert list(result) == list(STAGES)
    assert result["conv2d_2b"] == (64, 147) and result["mixed_5b"] == result["repeat"] == (320, 35)
    assert result["mixed_6a"] == result["repeat_1"] == (1088, 17)
    assert result["mixed_7a"] == result["repeat_2"] == result["block8"] == (2080, 8)
    assert result["conv2d_7b"] == (WIDTH, 8)


@pytest.mark.long
@pytest.mark.parametrize(("size", "cells"), [((299, 299), (8, 8)), ((128, 350), (2, 9)), ((128, 800), (2, 23))])
def test_images_and_spectrograms_give_the_published_grids(size: tuple[int, int], cells: tuple[int, int]) -> None:
    assert grid(*size) == cells
    with torch.device("meta"):
        assert InceptionResnetV2(0, channels=1).features(torch.empty(1, 1, *size)).shape == (1, WIDTH, *cells)


@given(st.integers(LEAST_SIDE, 2000), st.integers(LEAST_SIDE, 2000))
def test_the_grid_size_follows_from_the_unpadded_layers(height: int, width: int) -> None:
    x = torch.empty(1, 1, height, width, device="meta")
    for stride in (2, 1, 2, 1, 2, 2, 2):
        x = F.max_pool2d(x, 3, stride)
    assert grid(height, width) == (x.shape[2], x.shape[3])


def test_the_smallest_image_gives_one_cell_and_a_smaller_one_is_refused(small: InceptionResnetV2) -> None:
    assert small.features(torch.zeros(1, 1, LEAST_SIDE, LEAST_SIDE)).shape == (1, WIDTH, 1, 1)
    with pytest.raises(ValueError, match="at least 75 px"):
        small.features(torch.zeros(1, 1, LEAST_SIDE, LEAST_SIDE - 1))


@pytest.mark.parametrize("shape", [(1, 3, 80, 80), (1, 80, 80), (80, 80)])
def test_input_of_another_shape_is_refused_with_both_shapes(small: InceptionResnetV2, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="reads batch × 1 × height × width"):
        small(torch.zeros(shape))


def test_mixed_5b_excludes_padding_from_the_average() -> None:
    torch.manual_seed(0)
    x = torch.randn(1, 192, 5, 4)
    pooled = Mixed5b().branch3[0](x)
    for row in range(5):
        for column in range(4):
            there = x[0, :, max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]
            assert torch.allclose(pooled[0, :, row, column], there.mean((1, 2)), atol=1e-6)


def test_every_block_adds_its_branches_by_its_scale(outline: InceptionResnetV2) -> None:
    stages = {"repeat": ([0.17] * 10, True), "repeat_1": ([0.10] * 20, True), "repeat_2": ([0.20] * 9, True)}
    for name, (scales, relu) in stages.items():
        assert [(block.scale, block.relu) for block in getattr(outline, name)] == [(scale, relu) for scale in scales]
    assert (outline.block8.scale, outline.block8.relu) == (1.0, False)


@pytest.mark.parametrize(
    ("block", "width", "scale", "relu"),
    [
        (block35(), 320, 0.17, True),
        (block17(), 1088, 0.1, True),
        (block8(), 2080, 0.2, True),
        (block8(1.0, relu=False), 2080, 1.0, False),
    ],
)
def test_a_block_adds_a_scaled_up_projection_to_its_input_and_applies_relu(
    block: Residual, width: int, scale: float, relu: bool
) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, width, 3, 3)
    kept = x.clone()
    block.eval()
    inner = torch.cat([branch(x) for name, branch in block.named_children() if name != "conv2d"], 1)
    up = torch.einsum("oi,bihw->bohw", block.conv2d.weight[:, :, 0, 0], inner) + block.conv2d.bias[:, None, None]
    expected = x + scale * up
    assert torch.allclose(block(x), expected.clamp(min=0) if relu else expected, atol=1e-5)
    assert (expected < 0).any() and torch.equal(x, kept)


@pytest.mark.long
def test_every_parameter_learns_and_another_memory_layout_changes_no_more_than_rounding(small: InceptionResnetV2) -> None:
    x = torch.randn(2, 1, 96, 128)
    with torch.no_grad():
        plain, stages = small(x), small.stages(x)
        turned = small.to(memory_format=torch.channels_last)(x.to(memory_format=torch.channels_last))
    assert torch.allclose(plain, turned, atol=1e-5 + 1e-4 * float(plain.abs().max()))
    assert torch.equal(stages["conv2d_7b"].mean((2, 3)), plain)
    small.to(memory_format=torch.contiguous_format).train()
    small(x).square().sum().backward()
    gradients: list[Tensor | None] = [parameter.grad for parameter in small.parameters()]
    assert all(gradient is not None and torch.isfinite(gradient).all() and gradient.any() for gradient in gradients)
    small.zero_grad(set_to_none=True)
    small.eval()


@pytest.mark.slow
def test_the_network_compiles_as_one_graph(small: InceptionResnetV2) -> None:
    x = torch.randn(1, 1, 75, 75)
    with torch.no_grad():
        assert torch.equal(torch.compile(small, backend="eager", fullgraph=True)(x), small(x))
