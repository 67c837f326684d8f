"""The exact search against a naive oracle, on what makes single-precision products and ties go wrong."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from components.search import nearest as module
from components.search.nearest import nearest

Vectors = NDArray[np.float32]


def naive(vectors: Vectors, query: Vectors, last: Any = None) -> list[int]:
    """All rows by their product without any rounding, then those that are not ``last``, then by number."""
    wide = [[Fraction(float(value)) for value in vector] for vector in vectors]
    asked = [Fraction(float(value)) for value in query]
    score = [sum(a * b for a, b in zip(asked, vector, strict=True)) for vector in wide]
    return sorted(range(len(vectors)), key=lambda row: (-score[row], last is not None and bool(last[row]), row))


def cases() -> dict[str, tuple[Vectors, Vectors]]:
    """Name → vectors and queries."""
    draw = np.random.default_rng(0)

    def drawn(*shape: int) -> Vectors:
        return draw.standard_normal(shape).astype(np.float32)

    plain, queries = drawn(300, 24), drawn(3, 24)
    near = np.nextafter(plain[:4].repeat(75, axis=0), draw.choice([-9, 9], (300, 24)).astype(np.float32))
    cancelling = np.concatenate([plain * np.float32(1e4), -plain * np.float32(1e4)], axis=1)
    cancelling[:, 0] += drawn(300)
    return {
        "plain": (plain, queries),
        "duplicates": (plain[draw.integers(0, 12, 300)], queries),
        "all equal": (np.repeat(plain[:1], 300, axis=0), queries),
        "the last bit": (near, near[:3]),
        "nothing but zeros": (np.zeros((300, 24), np.float32), queries),
        "zero queries": (plain, np.zeros((2, 24), np.float32)),
        "sums that cancel": (cancelling, np.concatenate([queries, queries], axis=1)),
        "subnormal": ((plain * 1e-41).astype(np.float32), queries),
        "products that underflow": ((near * 1e-25).astype(np.float32), (queries * 1e-25).astype(np.float32)),
        "products that overflow": ((near * 1e25).astype(np.float32), (queries * 1e30).astype(np.float32)),
        "small whole numbers": (draw.integers(-2, 3, (300, 24)).astype(np.float32), np.ones((3, 24), np.float32)),
        "one dimension": (drawn(300, 1), drawn(3, 1)),
    }


@pytest.mark.parametrize("name", cases())
def test_the_order_is_that_of_the_oracle(name: str) -> None:
    vectors, queries = cases()[name]
    orders = [naive(vectors, query) for query in queries]
    for k in (1, 10, 299, 1000):
        rows, scores = nearest(vectors, queries, k, threads=2)
        assert rows.tolist() == [order[:k] for order in orders]
        wide = queries.astype(float) @ vectors.T.astype(float)
        np.testing.assert_allclose(scores, np.take_along_axis(wide, rows, axis=1), rtol=1e-9, atol=1e-9 * np.abs(wide).max())


@given(st.data())
def test_equal_scores_are_ordered_by_what_comes_last_and_then_by_row(data: st.DataObject) -> None:
    dimension, count = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 30))
    number = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1 + 2.0**-23, 3.0])
    vector = st.lists(number, min_size=dimension, max_size=dimension)
    vectors = np.array(data.draw(st.lists(vector, min_size=count, max_size=count)), np.float32)
    last, k = np.arange(count) % 3 == 1, data.draw(st.integers(1, 12))
    rows, _ = nearest(vectors, vectors[:2], k, last=lambda query, found: last[found])
    assert rows.tolist() == [naive(vectors, query, last)[:k] for query in vectors[:2]]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_and_of_queries_at_once_changes_no_result(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    vectors = draw.standard_normal((5_000, 16)).astype(np.float32)[draw.integers(0, 2_000, 5_000)]
    whole = nearest(vectors, vectors[:7], 10, threads=1)
    monkeypatch.setattr(module, "QUERIES_AT_ONCE", 3)
    for one, other in zip(whole, nearest(vectors, vectors[:7], 10, threads=threads), strict=True):
        assert (one == other).all()


def test_the_library_scans_and_only_doubt_scores_more_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[int] = []
    exact = module.exact_scores
    monkeypatch.setattr(module, "exact_scores", lambda query, rows: scored.append(len(rows.high)) or exact(query, rows))
    vectors = np.random.default_rng(2).standard_normal((5_000, 16)).astype(np.float32)
    nearest(vectors, vectors[:3], 10)
    assert scored == [10 + module.SPARE] * 3


def test_what_is_not_finite_comes_last() -> None:
    vectors = np.random.default_rng(3).standard_normal((60, 8)).astype(np.float32)
    vectors[2, 1], vectors[7, 0] = np.nan, np.inf
    queries = np.stack([vectors[2], vectors[5]])
    rows, scores = nearest(vectors, queries, 60)
    assert rows[0].tolist() == list(range(60)) and np.isneginf(scores[0]).all()
    assert rows[1, -2:].tolist() == [2, 7] and rows[1, :-2].tolist() == naive_finite(vectors, queries[1])
    rows, _ = nearest(vectors[10:], queries, 5)
    assert rows[0].tolist() == list(range(5)) and rows[1].tolist() == naive(vectors[10:], queries[1])[:5]


def naive_finite(vectors: Vectors, query: Vectors) -> list[int]:
    finite = np.flatnonzero(np.isfinite(vectors).all(axis=1))
    return [int(finite[place]) for place in naive(vectors[finite], query)]


def test_no_query_and_no_vector_have_no_neighbours() -> None:
    some = np.ones((4, 3), np.float32)
    assert nearest(some, some[:0], 2)[0].shape == (0, 2)
    assert nearest(some[:0], some[:2], 2, largest=1.0)[0].shape == (2, 0)
