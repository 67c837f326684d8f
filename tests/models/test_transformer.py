"""Properties of the Transformer captioner: its cache, its masks, its sizes, its choices."""

from __future__ import annotations

import pytest
import torch

from components.models.captioners import build
from components.models.captioners.interface import CaptionerConfig
from components.models.captioners.transformer import TransformerCaptioner, sinusoids
from components.models.vocabulary import END, PAD, START
from tests.support.models.captioning import tiny_transformer

WORDS = torch.tensor([[START, 4, 5, 6], [START, 7, 7, 12], [START, 9, 4, 4], [START, 5, 11, 8]])


def test_reordered_rows_are_scored_by_their_own_words() -> None:
    network = tiny_transformer(1)
    memory = network.encode(torch.randn(2, 5, 6, dtype=torch.float64))
    state, moves = network.start(memory, 2), (torch.tensor([1, 1, 2, 2]), torch.tensor([1, 0, 3, 2]), torch.tensor([0, 0, 3, 2]))
    words = WORDS[:, :1]
    with torch.no_grad():
        for place in range(3):
            network.step(state, words[:, place])
            network.reorder(state, moves[place])
            words = torch.cat([words[moves[place]], WORDS[:, place + 1 : place + 2]], dim=1)
            across = [tensor.data_ptr() for pair in state.across for tensor in pair]
        torch.testing.assert_close(network.step(state, words[:, 3]), network.decode(memory, words)[:, 3])
    assert across == [tensor.data_ptr() for pair in state.across for tensor in pair]


def test_the_images_keys_and_values_are_stored_once_for_any_beam() -> None:
    network = tiny_transformer(2)
    memory = network.encode(torch.randn(3, 5, 6, dtype=torch.float64))
    for rows in (1, 4, 9):
        across = network.start(memory, rows).across
        assert [tuple(tensor.shape) for pair in across for tensor in pair] == [(3, 2, 5, 8)] * 4


def test_the_decoder_is_causal() -> None:
    network = tiny_transformer(3)
    memory = network.encode(torch.randn(1, 5, 6, dtype=torch.float64))
    one, other = torch.tensor([[1, 4, 5, 6]]), torch.tensor([[1, 4, 9, 7]])
    torch.testing.assert_close(network.decode(memory, one)[:, :2], network.decode(memory, other)[:, :2])


def test_cell_positions_matter() -> None:
    network, features = tiny_transformer(4), torch.randn(1, 5, 6, dtype=torch.float64)
    turned = network.decode(network.encode(features.flip(1)), WORDS[:1])
    assert not torch.allclose(turned, network.decode(network.encode(features), WORDS[:1]))


def test_word_order_matters() -> None:
    # In one layer attention would not tell it without their positions.
    network = tiny_transformer(4, layers=1)
    memory = network.encode(torch.randn(1, 5, 6, dtype=torch.float64))
    one, other = (network.decode(memory, torch.tensor([words]))[:, -1] for words in ([1, 4, 7, 5], [1, 7, 4, 5]))
    assert not torch.allclose(one, other)


def test_padding_adds_nothing_to_the_loss() -> None:
    network, features = tiny_transformer(5), torch.randn(2, 5, 6, dtype=torch.float64)
    words = torch.tensor([[START, 4, END], [START, 5, END]])
    torch.testing.assert_close(network.loss(features, words), network.loss(features, torch.nn.functional.pad(words, (0, 3))))


def test_every_weight_gets_a_gradient() -> None:
    network, features = tiny_transformer(6).train(), torch.randn(2, 5, 6, dtype=torch.float64)
    network.loss(features, torch.tensor([[START, 4, 6, END], [START, 5, END, PAD]])).backward()
    assert [name for name, weight in network.named_parameters() if weight.grad is None or not weight.grad.abs().max() > 0] == []


@pytest.mark.parametrize(("name", "cells"), [("t2t1x1", 1), ("t2t8x8", 64)])
def test_the_papers_network_has_the_sizes_of_the_papers(name: str, cells: int) -> None:
    with torch.device("meta"):
        network = TransformerCaptioner(CaptionerConfig(name, 25_000))
    feedforward, norm = 2 * 512 * 2048 + 2048 + 512, 2 * 512
    encoder, decoder = 4 * 512**2 + feedforward + 2 * norm, 8 * 512**2 + feedforward + 3 * norm
    wanted = (1536 + 1) * 512 + 25_000 * 512 + 6 * (encoder + decoder)
    assert sum(weight.numel() for weight in network.parameters()) == wanted == 57_688_576
    assert network.config.grid == (cells > 1)


def test_position_codes_are_sines_at_even_and_cosines_at_odd_indices() -> None:
    result = sinusoids(64, 512).double()
    for place, column in ((0, 0), (1, 0), (1, 1), (63, 100), (63, 511)):
        angle = torch.tensor(place / 10_000 ** (2 * (column // 2) / 512), dtype=torch.float64)
        wanted = torch.cos(angle) if column % 2 else torch.sin(angle)
        assert float(result[place, column]) == pytest.approx(float(wanted), abs=2e-6)


def test_a_grid_larger_than_any_known_is_read() -> None:
    network = tiny_transformer(7)
    assert network.encode(torch.randn(1, 100, 6, dtype=torch.float64)).shape == (1, 100, 16)


def test_unsuitable_inputs_are_refused_with_one_line() -> None:
    with pytest.raises(ValueError, match="t2t8x8 reads images × cells × 6 features, not 1 × 5 × 7"):
        tiny_transformer(0).encode(torch.zeros(1, 5, 7, dtype=torch.float64))
    single = build(CaptionerConfig("t2t1x1", 9, image_features=6, width=8, heads=2, layers=1, feedforward=8))
    with pytest.raises(ValueError, match="t2t1x1 reads images × 1 × 6 features, not 1 × 64 × 6"):
        single.encode(torch.zeros(1, 64, 6))
    with pytest.raises(ValueError, match="8 words to read, more than START and the maximum of 6"):
        tiny_transformer(0).decode(torch.zeros(1, 5, 16, dtype=torch.float64), torch.ones(1, 8, dtype=torch.long))
    with pytest.raises(ValueError, match="width 10 is not divisible by 4 heads"):
        build(CaptionerConfig("t2t8x8", 9, width=10, heads=4))
