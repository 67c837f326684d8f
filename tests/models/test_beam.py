"""Beam search, greedy search and sampling are what their definitions say, for any captioning network."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from components.models.beam import Written, generate, stable_topk
from components.models.captioners.interface import CaptionNetwork
from components.models.vocabulary import END, PAD, START, UNKNOWN
from tests.support.models.captioning import TableNetwork, plain_beam_search, tiny_transformer


def same(found: list[Written], wanted: list[Written]) -> None:
    assert [one.words for one in found] == [one.words for one in wanted]
    assert [one.score for one in found] == pytest.approx([one.score for one in wanted], abs=1e-9)


def images_of(network: CaptionNetwork, count: int, seed: int) -> torch.Tensor:
    if isinstance(network, TableNetwork):
        return torch.randint(7, (count, 1, 1), generator=torch.Generator().manual_seed(seed)).double()
    return torch.randn(count, 5, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.long
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    beam=st.integers(2, 6),
    count=st.integers(1, 4),
    eager=st.sampled_from([-3.0, -1.0, 0.0, 1.0, 4.0]),
    pre_norm=st.booleans(),
)
def test_transformer_captions_equal_a_naive_search(seed: int, beam: int, count: int, eager: float, pre_norm: bool) -> None:
    network = tiny_transformer(seed, eager=eager, pre_norm=pre_norm)
    images = images_of(network, count, seed)
    best = 1 + seed % beam
    result = generate(network, images, beam=beam, best=best)
    for mine, image in zip(result, images, strict=True):
        same(mine, plain_beam_search(network, image, beam)[:best])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    beam=st.integers(2, 9),
    count=st.integers(1, 5),
    eager=st.sampled_from([-2.0, 0.0, 1.0, 3.0]),
    vocabulary=st.integers(5, 9),
    values=st.integers(1, 3),
)
def test_ties_go_to_the_hypothesis_found_first(
    seed: int, beam: int, count: int, eager: float, vocabulary: int, values: int
) -> None:
    network = TableNetwork(seed, eager=eager, vocabulary=vocabulary, values=values).eval()
    images = images_of(network, count, seed)
    best = 1 + seed % beam
    result = generate(network, images, beam=beam, best=best)
    for mine, image in zip(result, images, strict=True):
        same(mine, plain_beam_search(network, image, beam)[:best])


def test_among_equal_finished_captions_the_first_wins() -> None:
    # END and two words are equally likely at first; after a word END is certain, so that it costs nothing.
    network = TableNetwork(0, vocabulary=6, longest=4, values=1).eval()
    network.table[:, :, UNKNOWN + 1 :, END] = 1000
    result = generate(network, images_of(network, 1, 0), best=3)[0]
    assert [one.words for one in result] == [[], [4], [5]] and len({one.score for one in result}) == 1


@pytest.mark.parametrize("beam", [1, 4])
def test_results_do_not_depend_on_the_batch(beam: int) -> None:
    network = tiny_transformer(3, eager=2.0)
    images = images_of(network, 11, 1)
    whole = generate(network, images, beam=beam)
    for batch in (1, 3, 11, 50):
        for one, other in zip(whole, generate(network, images, beam=beam, batch=batch), strict=True):
            same(one, other)


def test_an_exhaustive_beam_finds_the_most_likely_caption() -> None:
    network = tiny_transformer(5, vocabulary=6, longest=3)
    image = images_of(network, 1, 5)
    every = plain_beam_search(network, image[0], 10**6)
    assert len(every) == 1 + 2 + 4 + 8
    same(generate(network, image, beam=8)[0], every[:1])


@pytest.mark.parametrize("beam", [1, 4])
def test_special_words_are_never_written_and_captions_end(beam: int) -> None:
    for seed in range(10):
        network = tiny_transformer(seed)
        with torch.no_grad():
            network.decoder[-1].norms[-1].bias += 3 * network.embedding.weight[[PAD, START, UNKNOWN]].sum(0)
        for result in generate(network, images_of(network, 3, seed), beam=beam, best=min(beam, 2)):
            assert all(len(one.words) <= 6 and not {PAD, START, UNKNOWN, END} & set(one.words) for one in result)


@pytest.mark.parametrize("beam", [1, 4])
def test_forbidden_words_are_not_written_and_the_rest_is_renormalised(beam: int) -> None:
    network = tiny_transformer(0, vocabulary=6)
    never = (PAD, START, UNKNOWN, END, 4)
    for result in generate(network, images_of(network, 2, 0), beam=beam, never=never):
        assert result[0].words == [5] * 6
        assert result[0].score == pytest.approx(0.0, abs=1e-12)


def test_no_images_give_no_captions() -> None:
    network = tiny_transformer(0)
    assert generate(network, torch.zeros(0, 5, 6, dtype=torch.float64)) == []


def test_invalid_arguments_and_scores_are_refused() -> None:
    network, images = tiny_transformer(0), torch.zeros(2, 5, 6, dtype=torch.float64)
    for wrong in ({"beam": 0}, {"best": 5}, {"best": 0}, {"batch": 0}):
        with pytest.raises(ValueError, match=r"beam and batch must be at least 1.*got"):
            generate(network, images, **wrong)
    for beam in (1, 4):
        with pytest.raises(ValueError, match="NaN"):
            generate(network, images.fill_(float("nan")), beam=beam)
    with pytest.raises(ValueError, match="training mode"):
        generate(network.train(), images)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    rows=st.lists(st.lists(st.sampled_from([-2.5, -0.0, 0.0, 1e-40, 3.0, float("-inf")]), min_size=9, max_size=9), min_size=1),
    count=st.integers(1, 12),
    kind=st.sampled_from([torch.float32, torch.float64]),
)
def test_stable_topk_equals_a_stable_sort(rows: list[list[float]], count: int, kind: torch.dtype) -> None:
    scores = torch.tensor(rows, dtype=kind)
    values, places = stable_topk(scores, count)
    for row, value, place in zip(scores.tolist(), values.tolist(), places.tolist(), strict=True):
        wanted = sorted(range(9), key=lambda at: -row[at])[:count]
        finite = [at for at in wanted if row[at] > float("-inf")]
        assert value == [row[at] for at in wanted]
        assert place[: len(finite)] == finite
