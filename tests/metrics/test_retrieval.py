"""Recall at k against a naive oracle, ties and intervals."""

from __future__ import annotations

import random

import pytest

from components.metrics.retrieval import bootstrap, chance_at, ranks, recall_at


def naive_hit(scores: list[float], right: list[bool], k: int) -> bool:
    # A wrong item wins every tie.
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], right[i]))
    return any(right[i] for i in order[:k])


@pytest.mark.parametrize("seed", range(20))
def test_recall_equals_a_naive_count_also_with_ties_and_several_right_items(seed: int) -> None:
    source = random.Random(seed)
    scores = [[float(source.randint(0, 4)) for _ in range(12)] for _ in range(15)]
    correct = [[source.random() < 0.2 or i == q % 12 for i in range(12)] for q in range(15)]
    found = ranks(scores, correct)
    for k in (1, 3, 5, 12):
        assert recall_at(found, k) == sum(naive_hit(s, c, k) for s, c in zip(scores, correct, strict=True)) / 15


def test_equal_scores_everywhere_put_the_right_item_last() -> None:
    eye = [[i == j for j in range(7)] for i in range(7)]
    assert ranks([[0.5] * 7] * 7, eye) == [7] * 7


def test_a_score_that_is_no_number_is_the_lowest() -> None:
    assert ranks([[float("nan"), 0.0]], [[True, False]]) == [2]


def test_a_query_without_a_right_item_is_an_error() -> None:
    with pytest.raises(ValueError, match="no correct item"):
        ranks([[1.0]], [[False]])


def test_chance_is_k_over_n_with_one_right_item() -> None:
    eye = [[i == j for j in range(20)] for i in range(20)]
    assert chance_at(eye, 10) == pytest.approx(0.5)
    assert chance_at([[True, True, False, False]], 1) == pytest.approx(0.5)


def test_the_interval_is_seeded_and_holds_the_mean() -> None:
    values = [1.0] * 30 + [0.0] * 70
    low, high = bootstrap(values, seed=1, resamples=500)
    assert (low, high) == bootstrap(values, seed=1, resamples=500)
    assert 0.15 < low < 0.3 < high < 0.45
