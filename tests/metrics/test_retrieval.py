"""Ranks, both recalls and chance against naive counts; ties, duplicates, blocks of any side."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from components.metrics.retrieval import (
    best_ranks,
    chance_of_hit,
    recall_at,
    relevant_ranks,
)
from components.metrics.similarity import exact_scores, paired_scores, split_vectors
from components.search.nearest import nearest


def exact(query: NDArray[np.float32], item: NDArray[np.float32]) -> Fraction | float:
    """The dot product without any rounding; −inf where it is no number."""
    if not (np.isfinite(query).all() and np.isfinite(item).all()):
        return -math.inf
    return sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(query, item, strict=True)), Fraction(0))


def naive_order(task: Any) -> list[list[int]]:
    """For each query all items sorted, wrong ones first among equals, and then lower rows."""
    queries, items, asked, offered = task
    return [
        sorted(range(len(items)), key=lambda i: (-exact(query, items[i]), offered[i] == identity))
        for query, identity in zip(queries, asked, strict=True)
    ]


def naive_places(task: Any) -> list[list[int]]:
    offered, orders = task[3], zip(task[2], naive_order(task), strict=True)
    return [[place for place, item in enumerate(order, 1) if offered[item] == identity] for identity, order in orders]


@st.composite
def tasks(draw: st.DrawFn) -> Any:
    """Embeddings of few different values, so that there are ties and duplicates, and now and then one that is no number."""
    width = draw(st.integers(1, 5))
    value = st.one_of(
        st.sampled_from([0.0, 1.0, -1.0, 0.1, 3e-3]), st.floats(-2, 2, width=32), st.sampled_from([math.nan, math.inf])
    )
    vector = st.lists(value, min_size=width, max_size=width)
    kinds = draw(st.lists(vector, min_size=1, max_size=5))
    items = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=12))
    queries = draw(st.lists(st.one_of(vector, st.sampled_from(kinds)), min_size=1, max_size=6))
    offered = [place % 3 for place in range(len(items))]
    asked = draw(st.lists(st.sampled_from(offered), min_size=len(queries), max_size=len(queries)))
    return np.array(queries, dtype=np.float32), np.array(items, dtype=np.float32), np.array(asked), np.array(offered)


@given(tasks(), st.integers(1, 13))
def test_ranks_equal_those_of_sorted_exact_scores_for_any_block(task: Any, chunk: int) -> None:
    expected = naive_places(task)
    assert [places.tolist() for places in relevant_ranks(*task, chunk).ranks] == expected
    assert best_ranks(*task, chunk).tolist() == [places[0] for places in expected]


@given(tasks(), st.integers(1, 13))
def test_the_search_orders_items_as_the_ranks_do(task: Any, depth: int) -> None:
    queries, items, asked, offered = task
    best, _ = nearest(items, queries, depth, last=lambda query, rows: offered[rows] == asked[query])
    assert best.tolist() == [order[:depth] for order in naive_order(task)]


@given(tasks(), st.integers(1, 12))
def test_recall_equals_counts_in_the_sorted_list(task: Any, depth: int) -> None:
    result, expected = relevant_ranks(*task), naive_places(task)
    inside = [[place for place in places if place <= depth] for places in expected]
    assert recall_at(result.best, depth) == sum(map(bool, inside)) / len(inside)


@pytest.mark.long
@pytest.mark.parametrize("width", [3, 256, 1536])
def test_scores_are_bit_equal_in_any_block_and_duplicates_tie(width: int) -> None:
    source = np.random.Generator(np.random.PCG64(width))
    queries, items = (source.standard_normal((n, width)).astype(np.float32) for n in (70, 90))
    items[1::2] = items[0::2]
    whole = exact_scores(split_vectors(queries), split_vectors(items))
    np.testing.assert_array_equal(whole[:, 1::2], whole[:, 0::2])
    for step in (1, 7, 33):
        parts = [
            [exact_scores(split_vectors(queries[a : a + step]), split_vectors(items[b : b + step])) for b in range(0, 90, step)]
            for a in range(0, 70, step)
        ]
        np.testing.assert_array_equal(np.block(parts), whole)
    np.testing.assert_array_equal(paired_scores(split_vectors(queries), split_vectors(items[:70])), np.diag(whole[:, :70]))


@pytest.mark.long
@pytest.mark.parametrize("width", [1, 64, 1536])
def test_scores_are_nearer_the_true_dot_products_than_plain_float64(width: int) -> None:
    source = np.random.Generator(np.random.PCG64(width))
    queries, items = (source.standard_normal((12, width)).astype(np.float32) for _ in range(2))
    true = [[exact(q, i) for i in items] for q in queries]

    def error(result: NDArray[np.float64]) -> float:
        return max(
            abs(float(Fraction(float(score)) - right)) for row, rights in zip(result, true, strict=True)
            for score, right in zip(row, rights, strict=True)
        )  # fmt: skip

    assert error(exact_scores(split_vectors(queries), split_vectors(items))) <= error(
        queries.astype(float) @ items.astype(float).T
    )


def test_equal_embeddings_rank_relevant_items_last() -> None:
    same, identity = np.full((7, 300), 0.1, dtype=np.float32), np.array([0, 1, 2, 3, 4, 5, 5])
    assert best_ranks(same, same, identity, identity, chunk=2).tolist() == [7, 7, 7, 7, 7, 6, 6]


def test_nan_embeddings_rank_last() -> None:
    vectors = np.array([[1.0, 0.0], [math.nan, 0.0], [0.0, 1.0]])
    assert best_ranks(np.eye(2)[[0, 0, 1]], vectors, [0, 1, 2], [0, 1, 2]).tolist() == [1, 3, 1]
    assert best_ranks(vectors, np.eye(2)[[0, 0, 1]], [0, 1, 2], [0, 1, 2]).tolist() == [2, 3, 1]


@given(st.integers(1, 6), st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(1, 8))
def test_chance_is_the_mean_over_all_orders(items: int, right: list[int], depth: int) -> None:
    right = [min(items, number) for number in right]
    hits = []
    for number in right:
        for order in itertools.combinations(range(1, items + 1), number):
            hits.append(Fraction(any(place <= depth for place in order), len(right) * math.comb(items, number)))
    assert chance_of_hit(right, items, depth) == pytest.approx(float(sum(hits)))


def test_mismatched_input_is_an_error_in_one_line() -> None:
    two, ids = np.eye(2), [0, 1]
    with pytest.raises(ValueError, match="query 1 has no relevant item"):
        best_ranks(two, two, [0, 2], ids)
    with pytest.raises(ValueError, match="queries have 2 dimensions, items 3"):
        best_ranks(two, np.eye(3)[:2], ids, ids)
    with pytest.raises(ValueError, match="there are 2 items but identities of shape"):
        relevant_ranks(two, two, ids, [0, 1, 2])
    with pytest.raises(ValueError, match="must be a matrix"):
        best_ranks(two[0], two, ids, ids)
    with pytest.raises(ValueError, match="must be at least 1"):
        best_ranks(two, two, ids, ids, chunk=0)


def test_no_queries_have_no_recall() -> None:
    nothing = np.zeros((0, 2))
    assert best_ranks(nothing, np.eye(2), [], [0, 1]).tolist() == [] and recall_at([], 1) == 0.0
    assert relevant_ranks(nothing, np.eye(2), [], [0, 1]).ranks == [] and chance_of_hit([], 2, 1) == 0.0
