"""An ensemble of captioning networks decodes by the mean of their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from components.models.beam import generate
from components.models.captioners.ensemble import Ensemble
from components.models.captioners.interface import CaptionNetwork
from components.models.vocabulary import START
from tests.support.models.captioning import plain_beam_search, tiny_transformer

IMAGES = torch.randn(5, 5, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
MEMBERS = [tiny_transformer(seed, eager=-1.0) for seed in (3, 8)]


class Averaged:
    """What :func:`plain_beam_search` reads of a network, written out."""

    def __init__(self, networks: Sequence[CaptionNetwork]) -> None:
        self.networks, self.config = networks, networks[0].config

    def encode(self, features: Tensor) -> list[Any]:
        return [network.encode(features) for network in self.networks]

    def decode(self, memory: list[Any], words: Tensor) -> Tensor:
        probabilities = [one.decode(part, words).softmax(-1) for one, part in zip(self.networks, memory, strict=True)]
        return (sum(probabilities) / len(probabilities)).log()


@pytest.mark.parametrize("beam", [1, 3])
def test_one_network_alone_writes_what_it_writes_in_an_ensemble(beam: int) -> None:
    for one, other in zip(
        generate(MEMBERS[0], IMAGES, beam=beam), generate(Ensemble(MEMBERS[:1]), IMAGES, beam=beam), strict=True
    ):
        assert one[0].words == other[0].words and one[0].score == pytest.approx(other[0].score, abs=1e-9)


def test_the_beam_of_two_networks_is_that_of_their_mean_probabilities() -> None:
    found = generate(Ensemble(MEMBERS), IMAGES, beam=3, best=3)
    for mine, image in zip(found, IMAGES, strict=True):
        naive = plain_beam_search(Averaged(MEMBERS), image, 3)[:3]  # type: ignore[arg-type]
        assert [one.words for one in mine] == [one.words for one in naive]
        assert [one.score for one in mine] == pytest.approx([one.score for one in naive], abs=1e-9)
    assert [one[0].words for one in found] != [one[0].words for one in generate(MEMBERS[0], IMAGES, beam=3)]


def test_a_step_is_the_logarithm_of_the_mean_and_scores_of_two_kinds_of_decoding_agree() -> None:
    ensemble, words = Ensemble(MEMBERS), torch.full((5,), START)
    first, second = (one.step(one.start(one.encode(IMAGES), 1), words) for one in MEMBERS)
    scores = ensemble.step(ensemble.start(ensemble.encode(IMAGES), 1), words)
    torch.testing.assert_close(scores.exp(), (first.softmax(1) + second.softmax(1)) / 2)
    torch.testing.assert_close(ensemble.decode(ensemble.encode(IMAGES), words[:, None])[:, 0], scores)


def test_networks_with_encoders_of_their_own_read_their_own_features() -> None:
    other = IMAGES.flip(0)
    both = Ensemble(MEMBERS).encode(torch.cat([IMAGES, other], dim=2))
    torch.testing.assert_close(both[1], MEMBERS[1].encode(other))


def test_networks_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(ValueError, match="the networks of an ensemble differ in vocabulary: 13, 8"):
        Ensemble([MEMBERS[0], tiny_transformer(0, vocabulary=8)])
