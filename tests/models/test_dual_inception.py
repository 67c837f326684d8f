"""Inception-ResNet-v2 as speech and image tower: the paper's dual encoder, on the smallest inputs it takes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.models.inception_resnet_v2 import LEAST_SIDE, cells
from components.models.towers import InceptionSpeech
from tests.support.models.dual_encoders import INCEPTION, size

SIDE = 80
PAPER = {"speech": "inception_resnet_v2", "image": "inception_resnet_v2"}


@pytest.fixture(scope="module")
def model() -> Iterator[DualEncoder]:
    torch.manual_seed(0)
    yield DualEncoder(DualEncoderConfig(**PAPER, coefficients=SIDE, side=SIDE)).eval()


def test_the_papers_dual_encoder_is_two_whole_networks_and_nothing_else() -> None:
    with torch.device("meta"):
        model, narrow = DualEncoder(DualEncoderConfig(**PAPER)), DualEncoder(DualEncoderConfig(**PAPER, embedding=7))
    assert size(model.speech) == size(model.image) == INCEPTION
    assert size(narrow.speech) == size(narrow.image) == INCEPTION + 1536 * 7 + 7
    assert model.config.image_side == 299


@pytest.mark.long
def test_a_gradient_reaches_every_parameter_of_two_towers_that_share_no_memory(model: DualEncoder) -> None:
    model.train()
    images = torch.randint(256, (2, 3, SIDE, SIDE), dtype=torch.uint8)
    speech = model.embed_speech(torch.randn(2, SIDE, 90), torch.tensor([90, 80]))
    (speech @ model.embed_images(images).T).logsumexp(1).sum().backward()
    assert speech.shape == (2, 1536)
    bare = [name for name, value in model.named_parameters() if value.grad is None or not value.grad.abs().sum() > 0]
    assert bare == []
    model.zero_grad(set_to_none=True)
    model.eval()
    kept = [{tensor.data_ptr() for tensor in tower.state_dict().values()} for tower in (model.speech, model.image)]
    assert not kept[0] & kept[1]


def test_the_coefficients_are_three_channels_and_the_embedding_is_the_mean_over_the_map(model: DualEncoder) -> None:
    tower, clips, lengths = model.speech, torch.randn(2, SIDE, 130), torch.tensor([130, 95])
    assert isinstance(tower, InceptionSpeech)
    with torch.no_grad():
        zeroed = clips.clone()
        zeroed[1, :, 95:] = 0
        result = tower.network.features(torch.stack([zeroed] * 3, dim=1))
        torch.testing.assert_close(tower(clips, lengths), result.mean((2, 3)))
        tower.pool_padding = False
        own = tower(clips, lengths)
        tower.pool_padding = True
    # 130 frames leave 2 columns, 95 leave 1: the second clip's other column is of padding.
    assert result.shape[3] == cells(130) == 2 and cells(95) == 1
    torch.testing.assert_close(own[0], result[0].mean((1, 2)))
    torch.testing.assert_close(own[1], result[1, :, :, :1].mean((1, 2)))


def test_a_clip_below_the_networks_minimum_length_is_padded_to_it(model: DualEncoder) -> None:
    clip = torch.randn(1, SIDE, 3)
    with torch.no_grad():
        short = model.embed_speech(clip, torch.tensor([3]))
        padded = torch.nn.functional.pad(clip, (0, LEAST_SIDE - 3))
        torch.testing.assert_close(short, model.embed_speech(padded, torch.tensor([3])))


@pytest.mark.long
def test_batch_norms_follow_each_batch_by_the_momentum_asked_for() -> None:
    with torch.device("meta"):
        model = DualEncoder(DualEncoderConfig(**PAPER, norm_momentum=0.0003))
    norms = [module for module in model.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    assert len(norms) == 2 * 204 and {norm.momentum for norm in norms} == {0.0003}
