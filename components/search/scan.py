"""The exact search: float32 products of every row by BLAS, then exact scores of the rows that may be among the k best.

A float32 product is off by at most ``products.slack``. Rows of a block whose product, with that much added, stays below the
query's k-th best score so far cannot be among its k best; all others get exact scores. Queries are scaled by powers of two, which
changes no bit of a score, so that no float32 product overflows.
"""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from components.core.machine import usable_cores
from components.core.progress import progress as progress_bar
from components.search.products import exact_products, slack

QUERIES_AT_ONCE = 256
ROWS_AT_ONCE = 2048


@dataclass(frozen=True)
class Matrix:
    """The matrix to search.

    Attributes:
        vectors: n × D.
        norms: n, upper bounds of their norms.
        rows: the rows to search, sorted; None: all.
    """

    vectors: NDArray[np.float32]
    norms: NDArray[np.float32]
    rows: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.vectors) if self.rows is None else len(self.rows)

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return for selected rows ``start`` to ``stop`` their vectors, m × D, and the rows' numbers, m."""
        rows = np.arange(start, min(stop, len(self))) if self.rows is None else self.rows[start:stop]
        first, last = int(rows[0]), int(rows[-1]) + 1
        # Neighbouring rows are read in place.
        return self.vectors[first:last] if last - first == len(rows) else self.vectors[rows], rows


def scan(
    matrix: Matrix, queries: NDArray[np.float32], k: int, *, threads: int | None = None, progress: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return each query's k rows of greatest score, ties by the lower row: rows q × k (−1: none) and scores q × k (−∞ there).

    Args:
        queries: q × D, finite.
        k: at least 1.
        threads: number of cores; None: all available to this process.
    """
    parts = [queries[start : start + QUERIES_AT_ONCE] for start in range(0, len(queries), QUERIES_AT_ONCE)]
    # A part is multiplied on one core: threads of BLAS would wait for one another at each block.
    with _libraries().limit(limits=1, user_api="blas"), ThreadPoolExecutor(threads or usable_cores()) as pool:
        found = pool.map(lambda part: _scan_part(matrix, part, k), parts)
        results = list(progress_bar(found, len(parts), "searching") if progress else found)
    if not results:
        return np.full((0, k), -1, np.int64), np.full((0, k), -np.inf)
    return np.concatenate([rows for rows, _ in results]), np.concatenate([scores for _, scores in results])


def _scan_part(matrix: Matrix, queries: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    scaled, exponents = _scaled(queries)
    norms = np.ldexp(1.0, exponents)
    rows, scores = np.full((len(queries), k), -1, np.int64), np.full((len(queries), k), -np.inf)
    scratch = np.empty(len(queries) * ROWS_AT_ONCE, np.float32)
    for start in range(0, len(matrix), ROWS_AT_ONCE):
        vectors, numbers = matrix.block(start, start + ROWS_AT_ONCE)
        products = scratch[: len(queries) * len(vectors)].reshape(len(queries), len(vectors))
        if len(queries) == 1:  # BLAS is several times faster at a matrix times a vector than at a row times a matrix
            np.matmul(vectors, scaled[0], out=products[0])
        else:
            np.matmul(scaled, vectors.T, out=products)
        off = float(slack(vectors.shape[1], matrix.norms[numbers].max(), 1.0))
        query, column = _candidates(products, off, scores[:, -1], k)
        row = numbers[column]
        exact = exact_products(queries, matrix.vectors, query, row, query_norms=norms, norms=matrix.norms)
        _merge(rows, scores, query, row, np.ldexp(exact, -exponents[query]))
    return rows, np.ldexp(scores, exponents[:, None]) + 0.0  # turns -0 into 0


def _candidates(
    products: NDArray[np.float32], off: float, floor: NDArray[np.float64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of query and row of a block that may be among the k best.

    Args:
        products: q × m, each off by at most ``off``.
        floor: q, the k-th best score so far (−∞: fewer than k rows were seen).
    """
    if np.isneginf(floor).any() and k <= products.shape[1]:
        # The k-th best of this block, less its error, is a floor too.
        floor = np.maximum(floor, np.partition(products, -k, axis=1)[:, -k] - off)
    bar = np.nextafter((floor - off).astype(np.float32), np.float32(-np.inf))[:, None]
    query, column = np.nonzero(products >= bar)
    return query, column


def _merge(
    rows: NDArray[np.int64],
    scores: NDArray[np.float64],
    query: NDArray[np.int64],
    row: NDArray[np.int64],
    score: NDArray[np.float64],
) -> None:
    """Put new pairs of query and row among the k best of each query, in place: greatest first, ties by the lower row."""
    k = rows.shape[1]
    query = np.concatenate([np.repeat(np.arange(len(rows)), k), query])
    row, score = np.concatenate([rows.reshape(-1), row]), np.concatenate([scores.reshape(-1), score])
    order = np.lexsort((row, -score, query))
    first = np.searchsorted(query[order], np.arange(len(rows)))
    best = order[first[:, None] + np.arange(k)]
    rows[:], scores[:] = row[best], score[best]


def _scaled(queries: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return queries divided by powers of two, with norms below 1, and the exponents."""
    wide = queries.astype(np.float64)
    exponents = np.frexp(np.sqrt(np.einsum("qd,qd->q", wide, wide)) * (1 + 1e-9))[1].astype(np.int64)
    return np.ldexp(wide, -exponents[:, None]).astype(np.float32), exponents


@functools.cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
