"""Sampled captions follow the network's probabilities, and their log-probabilities are those of the parallel pass."""

from __future__ import annotations

import pytest
import torch

from components.models.beam import generate
from components.models.sampling import greedy, log_probabilities, sample
from components.models.vocabulary import END, NEVER_WRITTEN, PAD
from tests.support.models.captioning import tiny_transformer


@pytest.mark.parametrize("seed", range(4))
def test_log_probabilities_are_those_of_all_words_read_at_once(seed: int) -> None:
    network = tiny_transformer(seed, eager=3.0)
    memory = network.encode(torch.randn(3, 5, 6, dtype=torch.float64))
    for drawn in (sample(network, memory, 3, 5, torch.Generator().manual_seed(seed)), greedy(network, memory, 3)):
        torch.testing.assert_close(log_probabilities(network, memory, drawn.words), drawn.log_probabilities)
        assert {END, PAD} & set(drawn.words.flatten().tolist()), "some caption ends before the longest length"


def test_after_the_end_there_is_padding_with_log_probability_zero() -> None:
    network = tiny_transformer(1, eager=4.0)
    memory = network.encode(torch.randn(3, 5, 6, dtype=torch.float64))
    drawn = sample(network, memory, 3, 20, torch.Generator().manual_seed(1))
    for row, scores, caption in zip(drawn.words.tolist(), drawn.log_probabilities.tolist(), drawn.captions(), strict=True):
        rest = row[len(caption) :]
        assert rest in ([], [END]) or (rest[0] == END and set(rest[1:]) == {PAD})
        assert all(score == 0 for word, score in zip(row, scores, strict=True) if word == PAD)
        assert all(score < 0 for word, score in zip(row, scores, strict=True) if word != PAD)
        assert len(row) <= network.config.longest and not set(caption) & set(NEVER_WRITTEN)


def test_equal_generators_draw_equal_captions() -> None:
    network = tiny_transformer(2)
    memory = network.encode(torch.randn(2, 5, 6, dtype=torch.float64))
    one, other, third = (sample(network, memory, 2, 8, torch.Generator().manual_seed(seed)).words for seed in (7, 7, 8))
    assert torch.equal(one, other) and not torch.equal(one, third)


def test_greedy_captions_are_those_of_a_beam_of_one() -> None:
    network = tiny_transformer(6, eager=2.0)
    features = torch.randn(5, 5, 6, dtype=torch.float64)
    result = greedy(network, network.encode(features), 5).captions()
    assert result == [one.words for (one,) in generate(network, features, beam=1)]
