"""The exact search against its definition, on what makes float32 products and ties go wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

from components.search import scan
from components.search.products import exact_products, norms_above, slack
from components.search.scan import Matrix
from tests.search.indexes import brute

Vectors = NDArray[np.float32]


def searched(vectors: Vectors, queries: Vectors, k: int, **options: Any) -> tuple[list[list[int]], list[list[float]]]:
    matrix = Matrix(vectors, norms_above(vectors))
    rows, scores = scan.scan(matrix, queries, k, **options)
    return rows.tolist(), scores.tolist()


def nudged(vectors: Vectors, draw: np.random.Generator) -> Vectors:
    """Each vector with some of its numbers moved to the next float32 up or down."""
    towards = np.where(draw.random(vectors.shape) < 0.5, -np.inf, np.inf).astype(np.float32)
    return np.where(draw.random(vectors.shape) < 0.2, np.nextafter(vectors, towards), vectors)


def cases() -> dict[str, tuple[Vectors, Vectors]]:
    """Name → vectors and queries."""
    draw = np.random.default_rng(0)

    def drawn(*shape: int) -> Vectors:
        return draw.standard_normal(shape).astype(np.float32)

    plain, queries = drawn(300, 48), drawn(5, 48)
    one = np.repeat(drawn(1, 48), 300, axis=0)
    near = nudged(np.repeat(drawn(4, 48), 75, axis=0), draw)
    cancelling = np.concatenate([plain * np.float32(1e4), -plain * np.float32(1e4)], axis=1)
    cancelling[:, 0] += drawn(300)
    wide = (plain * np.exp2(draw.integers(-90, 60, 300))[:, None]).astype(np.float32)
    zeros = plain.copy()
    zeros[::3] = 0
    return {
        "plain": (plain, queries),
        "duplicates": (plain[draw.integers(0, 12, 300)], queries),
        "all equal": (one, queries),
        "the last bit": (near, queries),
        "the query itself, in the last bit": (near, near[:5]),
        "zero vectors among them": (zeros, queries),
        "nothing but zeros": (np.zeros((300, 48), np.float32), queries),
        "zero queries": (plain, np.concatenate([queries[:2], np.zeros((2, 48), np.float32)])),
        "large norms": (plain * np.float32(1e4), queries * np.float32(1e4)),
        "sums that cancel": (cancelling, np.concatenate([queries, queries], axis=1)),
        "norms of every size": (wide, queries),
        "subnormal": ((plain * 1e-41).astype(np.float32), queries),
        "subnormal queries": (plain, (queries * 1e-42).astype(np.float32)),
        "products that underflow": ((near * 1e-25).astype(np.float32), (queries * 1e-25).astype(np.float32)),
        "products that overflow in float32": ((near * 1e25).astype(np.float32), (queries * 1e30).astype(np.float32)),
        "small whole numbers": (draw.integers(-2, 3, (300, 48)).astype(np.float32), np.ones((3, 48), np.float32)),
        "one dimension": (drawn(300, 1), drawn(4, 1)),
    }


@pytest.mark.long
@pytest.mark.parametrize("k", [1, 10, 299, 300])
@pytest.mark.parametrize("name", cases())
def test_the_order_is_that_of_the_definition(name: str, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Blocks of 32 rows, so that floors of earlier blocks take part at this size.
    monkeypatch.setattr(scan, "ROWS_AT_ONCE", 32)
    vectors, queries = cases()[name]
    assert searched(vectors, queries, k, threads=2) == brute(vectors, queries, k)


@given(st.data())
def test_equal_scores_are_ordered_as_defined(data: st.DataObject) -> None:
    number = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1 + 2.0**-23, 1 - 2.0**-24, 2.0**-149, 1e4, -1e4, 3.0])
    dimension, count, asked = (data.draw(st.integers(1, most)) for most in (5, 24, 3))

    def matrix(rows: int) -> Vectors:
        drawn = data.draw(st.lists(st.lists(number, min_size=dimension, max_size=dimension), min_size=rows, max_size=rows))
        return np.array(drawn, np.float32)

    vectors, queries, k = matrix(count), matrix(asked), data.draw(st.integers(1, 30))
    assert searched(vectors, queries, min(k, count)) == brute(vectors, queries, k)


@pytest.mark.long
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_no_result(threads: int) -> None:
    draw = np.random.default_rng(1)
    vectors = draw.standard_normal((20_000, 16)).astype(np.float32)[draw.integers(0, 9_000, 20_000)]
    queries = draw.standard_normal((7, 16)).astype(np.float32)
    assert searched(vectors, queries, 10, threads=threads) == brute(vectors, queries, 10)


def test_more_queries_than_one_batch_are_all_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "QUERIES_AT_ONCE", 3)
    vectors, _ = cases()["duplicates"]
    assert searched(vectors, vectors[:10], 4) == brute(vectors, vectors[:10], 4)


@given(st.integers(1, 2000), st.integers(0, 2**32 - 1), st.sampled_from(["normal", "cancelling", "scales"]))
def test_a_score_is_the_exact_sum_rounded_once(dimension: int, seed: int, kind: str) -> None:
    draw = np.random.default_rng(seed)
    vectors, queries = (draw.standard_normal((4, dimension)).astype(np.float32) for _ in range(2))
    if kind == "cancelling":
        vectors[:, dimension // 2 :] = -vectors[:, : dimension - dimension // 2]
        queries[:, dimension // 2 :] = queries[:, : dimension - dimension // 2]
    if kind == "scales":
        vectors = (vectors * np.exp2(draw.integers(-140, 90, vectors.shape))).astype(np.float32)
    every = np.arange(4)
    norms = {"query_norms": norms_above(queries), "norms": norms_above(vectors)}
    result = exact_products(queries, vectors, every, every[::-1].copy(), **norms)
    wanted = [math.fsum((queries[i].astype(float) * vectors[3 - i].astype(float)).tolist()) for i in range(4)]
    assert result.tolist() == wanted


@given(st.integers(1, 3000), st.integers(0, 2**32 - 1), st.integers(-149, 30))
def test_the_bound_holds_for_products_in_any_order(dimension: int, seed: int, power: int) -> None:
    draw = np.random.default_rng(seed)
    # All of one sign: Σ|qx| is the product, rounding errors do not cancel.
    vectors = np.ldexp(draw.random((3, dimension)) + 0.5, power).astype(np.float32)
    query = draw.random(dimension).astype(np.float32)
    off = slack(dimension, norms_above(vectors), float(norms_above(query[None])[0]))
    exact = np.array([math.fsum((query.astype(float) * vector.astype(float)).tolist()) for vector in vectors])
    running = np.cumsum(query * vectors, axis=1, dtype=np.float32)[:, -1]
    for product in (vectors @ query, (query[None] @ vectors.T)[0], running):
        assert (np.abs(product.astype(np.float64) - exact) <= off).all()


def test_norms_are_bounds_from_above_and_close() -> None:
    for vectors, _ in cases().values():
        true = [math.sqrt(math.fsum((vector.astype(float) ** 2).tolist())) for vector in vectors]
        assert all(norm >= t and norm <= t * (1 + 1e-6) + 1e-44 for norm, t in zip(norms_above(vectors), true, strict=True))


def test_thread_settings_are_restored_after_a_search() -> None:
    before = [library["num_threads"] for library in threadpool_info()]
    searched(*cases()["plain"], 3, threads=1)
    assert [library["num_threads"] for library in threadpool_info()] == before
