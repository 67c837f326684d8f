"""Packed linear layers compute what the layers they stand for compute, and leave those as they are."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from components.models.beam import generate
from components.models.packed_linear import pack_linear_layers
from tests.support.models.captioning import plain_beam_search, tiny_transformer


def test_a_packed_network_scores_as_the_network_does() -> None:
    network = tiny_transformer(0).float()
    features, words = torch.randn(3, 5, 6), torch.tensor([[1, 4, 5], [1, 6, 7], [1, 8, 9]])
    before = {name: weight.clone() for name, weight in network.state_dict().items()}
    with torch.inference_mode():
        quick = pack_linear_layers(network)
        result = quick.decode(quick.encode(features), words)
        torch.testing.assert_close(result, network.decode(network.encode(features), words), atol=1e-4, rtol=1e-4)
    assert quick is not network
    assert not [part for part in quick.modules() if type(part) is nn.Linear]
    assert len([part for part in network.modules() if type(part) is nn.Linear]) > 20
    assert list(network.state_dict()) == list(before)
    assert all(torch.equal(weight, before[name]) for name, weight in network.state_dict().items())


def test_a_packed_network_keeps_the_weights_of_the_time_of_packing() -> None:
    network = nn.Sequential(nn.Linear(3, 2))
    old = pack_linear_layers(network)
    with torch.no_grad():
        network[0].weight += 1
    x = torch.ones(1, 3)
    torch.testing.assert_close(pack_linear_layers(network)(x), network(x))
    torch.testing.assert_close(old(x) + 3, network(x))


def test_networks_that_cannot_be_packed_are_returned_unchanged() -> None:
    for network in (tiny_transformer(0), tiny_transformer(0).bfloat16(), nn.Sequential()):
        assert pack_linear_layers(network) is network
    with torch.autocast("cpu", torch.bfloat16):
        network = tiny_transformer(0).float()
        assert pack_linear_layers(network) is network


@pytest.mark.parametrize("seed", range(5))
def test_captions_of_a_packed_network_equal_a_naive_search(seed: int) -> None:
    network, images = tiny_transformer(seed).float(), torch.randn(3, 5, 6, generator=torch.Generator().manual_seed(seed))
    for result, image in zip(generate(network, images), images, strict=True):
        assert result[0].words == plain_beam_search(network, image, 4)[0].words


def test_captions_are_written_under_autocast() -> None:
    network = tiny_transformer(0).float()
    with torch.autocast("cpu", torch.bfloat16):
        assert len(generate(network, torch.randn(3, 5, 6))) == 3
