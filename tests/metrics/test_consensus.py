"""Consensus reranking equals its definition, and chooses what people wrote about similar images."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.metrics.cider import CiderD, DocumentFrequency
from components.metrics.consensus import NeighbourCaptions, choose, choose_weight, nearest_images

CAPTION = st.lists(st.sampled_from("abcde"), max_size=7)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    captions=st.lists(st.lists(CAPTION, min_size=1, max_size=4), min_size=2, max_size=7),
    hypotheses=st.lists(st.lists(CAPTION, min_size=1, max_size=4), min_size=1, max_size=5),
    neighbours=st.integers(1, 8),
    most=st.integers(1, 9),
    seed=st.integers(0, 99),
)
def test_the_consensus_is_the_mean_with_the_most_similar_captions_of_the_nearest_images(
    captions: list, hypotheses: list, neighbours: int, most: int, seed: int
) -> None:
    source = np.random.default_rng(seed)
    images, queries = source.normal(size=(len(captions), 4)), source.normal(size=(len(hypotheses), 4))
    near = nearest_images(queries, images, neighbours).tolist()
    found = NeighbourCaptions(captions, most).consensus(near, hypotheses)
    frequency = DocumentFrequency.of(captions)
    centred, queries = images - images.mean(0), queries - images.mean(0)
    assert [len(one) for one in found] == [len(known) for known in hypotheses]
    for query, known, scores in zip(queries, hypotheses, found, strict=True):
        cosines = [float(query @ image) / np.linalg.norm(query) / np.linalg.norm(image) for image in centred]
        nearest = sorted(range(len(images)), key=lambda at: -cosines[at])[:neighbours]
        references = [caption for at in nearest for caption in captions[at]]
        for hypothesis, score in zip(known, scores, strict=True):
            alone = sorted((float(CiderD([[one]], frequency).score([hypothesis])[0]) for one in references), reverse=True)[:most]
            assert score == pytest.approx(sum(alone) / len(alone), abs=1e-9)


def test_images_beyond_one_block_are_scored_as_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    source = np.random.default_rng(0)
    nearest = source.integers(0, 9, (7, 3)).tolist()
    captions = [[["a", "b", word]] for word in "cdefghijk"]
    known = [[["a", word], ["b", "c", word]] for word in "cdefghi"]
    form = NeighbourCaptions(captions, 2)
    whole = form.consensus(nearest, known)
    monkeypatch.setattr("components.metrics.consensus.IMAGES", 2)
    assert np.array_equal(np.array(form.consensus(nearest, known)), np.array(whole))


def made_case() -> tuple[list, list, list]:
    """Two images near others of dogs and of boats; the network finds a caption of neither a little more likely."""
    captions = [
        [["a", "dog", "runs"], ["the", "dog", "runs"]],
        [["a", "dog", "sits"]],
        [["a", "boat", "sails"]],
        [["one", "boat"]],
    ]
    images, queries = np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]]), np.array([[2, 0], [0, 3]])
    hypotheses = [[["a", "cat"], ["a", "dog", "runs"]], [["a", "cat"], ["a", "boat", "sails"]]]
    return (
        hypotheses,
        [[-0.5, -0.6], [-0.5, -0.6]],
        NeighbourCaptions(captions, 3).consensus(nearest_images(queries, images, 2).tolist(), hypotheses),
    )


def test_the_hypothesis_that_the_neighbours_agree_on_is_chosen() -> None:
    _, likely, agreed = made_case()
    assert choose(likely, agreed, 0.0) == [0, 0]
    assert choose(likely, agreed, 1.0) == [1, 1]


def test_the_weight_is_the_one_that_scores_best_and_the_smallest_of_equals() -> None:
    hypotheses, likely, agreed = made_case()
    consensus_is_right = [[["a", "dog", "runs"]], [["a", "boat", "sails"]]]
    weight = choose_weight(hypotheses, likely, agreed, consensus_is_right)
    assert choose(likely, agreed, weight) == [1, 1] and choose(likely, agreed, weight / 4) != [1, 1]
    assert choose_weight(hypotheses, likely, agreed, [[["a", "cat"]], [["a", "cat", "x"]]]) == 0.0


def test_a_training_image_is_its_own_nearest_and_ties_go_to_the_earlier_one() -> None:
    features = np.array(list(itertools.product((0.0, 1.0), repeat=3)))[1:]
    assert nearest_images(features, np.vstack([features, features]), 2).tolist() == [[at, at + 7] for at in range(7)]
