"""Rows of greatest dot product, found exactly by usearch. Its only user.

usearch computes in single precision, returns 1 − product, and orders equals by chance. So it gives candidates here, somewhat more
than are asked for; their scores are exact (:mod:`components.metrics.similarity`), and equal ones are ordered by row. The order
depends on neither machine nor threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from usearch.index import search as scan

from components.core.machine import usable_cores
from components.metrics.similarity import exact_scores, split_vectors

SPARE = 16
"""Candidates beyond k of the exact search; more are taken where this leaves a doubt."""
QUERIES_AT_ONCE = 256
ROWS_AT_ONCE = 4096
LEAST_NORM = 1e-30

Rows = NDArray[np.int64]
Found = tuple[Rows, NDArray[np.float64]]
"""Rows and their scores, greatest first."""


def nearest(
    vectors: NDArray[np.float32],
    queries: NDArray[np.float32],
    k: int,
    *,
    largest: float | None = None,
    last: Callable[[int, Rows], NDArray[np.bool_]] | None = None,
    threads: int | None = None,
) -> Found:
    """Return each query's rows of greatest score, q × min(k, n), and their scores.

    Args:
        vectors, queries: n × D and q × D. Whatever is not finite scores −∞.
        largest: an upper bound of the vectors' norms; None: it is computed.
        last: from a query's number and rows to which of these come last among equal scores; the others come in order.
        threads: number of cores; None: one a query, at most all of this process.
    """
    count, everything = min(k, len(vectors)), np.arange(len(vectors))
    largest = largest_norm(vectors) if largest is None else largest
    norms = np.linalg.norm(queries.astype(np.float64), axis=1)
    # Scaled so that no product exceeds 1 or overflows.
    scales = 1 / (np.where(norms > 0, norms, 1) * max(largest, LEAST_NORM))
    with np.errstate(invalid="ignore"):
        scaled = np.nan_to_num(queries * scales[:, None]).astype(np.float32)
    # The error of a product of D float32 numbers (Higham, Accuracy and Stability, 2002, §3.1), of the query and of 1 − product.
    error = 1.01 * (vectors.shape[1] + 8) * 2.0**-24
    rows, scores = np.empty((len(queries), count), np.int64), np.empty((len(queries), count))
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        unsure = list(range(start, min(start + QUERIES_AT_ONCE, len(queries))))
        candidates = min(count + SPARE, len(vectors)) if np.isfinite(largest) else len(vectors)
        while unsure:
            every = candidates == len(vectors)
            found, products = (
                (None, None) if every else _scan(vectors, scaled[unsure], candidates, threads or min(len(unsure), usable_cores()))
            )
            left = []
            for place, query in enumerate(unsure):
                tried = everything if found is None else found[place]
                best, score = ranked(queries[query], vectors, tried, count, last and last(query, tried))
                rows[query], scores[query] = best, score
                # A row that was not found may still be as good as the k-th.
                if products is not None and not products[place, -1] + error < score[-1] * scales[query]:
                    left.append(query)
            unsure, candidates = left, min(4 * candidates, len(vectors))
    return rows, scores


def ranked(
    query: NDArray[np.float32], vectors: NDArray[np.float32], rows: Rows, k: int, last: NDArray[np.bool_] | None = None
) -> Found:
    """Return the k best of some rows with their scores; of equal scores first those not in ``last``, then the lower row."""
    asked = split_vectors(query[None])
    parts = [rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE)]
    scores = np.concatenate([np.zeros(0), *(exact_scores(asked, split_vectors(vectors[part]))[0] for part in parts)]) + 0.0
    order = np.lexsort((rows, np.zeros(len(rows)) if last is None else last, -scores))[:k]
    return rows[order], scores[order]


def largest_norm(vectors: NDArray[np.float32]) -> float:
    """Return the largest norm of n × D vectors, rounded up; NaN if one is not finite."""
    parts = (vectors[start : start + ROWS_AT_ONCE].astype(np.float64) for start in range(0, len(vectors), ROWS_AT_ONCE))
    return float(np.max([np.linalg.norm(part, axis=1).max() for part in parts])) * (1 + 1e-6)


def _scan(vectors: NDArray[np.float32], queries: NDArray[np.float32], count: int, threads: int) -> tuple[Rows, Any]:
    found = scan(vectors, queries, count, "ip", exact=True, threads=threads)
    # usearch drops the first axis of a single query.
    return np.atleast_2d(found.keys).astype(np.int64), 1.0 - np.atleast_2d(found.distances).astype(np.float64)
