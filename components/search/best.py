"""Each query's rows that may still be among its k best, with bounds of their scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Exact = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]
"""Maps pairs of query and row to their exact scores."""

FEW_PAIRS = 1 << 17


class Best:
    """Pairs (query, row) with lower and upper bounds of the score; ``floor[q]`` is a lower bound of the k-th best score.

    A pair whose upper bound is below its query's floor is dropped, since k pairs of that query are better. One whose upper bound
    equals the floor may tie with the k-th and stays.
    """

    def __init__(self, queries: int, k: int, exact: Exact) -> None:
        self.k = k
        self.floor = np.full(queries, -np.inf)
        self._exact = exact
        self._pairs: tuple[NDArray, ...] = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))
        self._new: list[tuple[NDArray, ...]] = []
        self._waiting = 0
        self._thin_after = max(queries * k, 1024)
        self._cut_above = max(4 * queries * k, FEW_PAIRS)

    def add(self, query: NDArray[np.int64], row: NDArray[np.int64], low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
        """Add new pairs; thin them after as many as the queries can keep."""
        if not len(query):
            return
        self._new.append((query, row, low, high))
        self._waiting += len(query)
        if self._waiting >= self._thin_after:
            self.thin()

    def thin(self) -> None:
        """Raise the floors by the known lower bounds, and drop the pairs below them.

        If ties, or scores closer than the bounds, leave too many pairs, they are scored exactly and cut to k a query, so that
        memory is bounded for any vectors.
        """
        query, row, low, high = (np.concatenate(parts) for parts in zip(self._pairs, *self._new, strict=True))
        self._new, self._waiting = [], 0
        order = np.lexsort((-low, query))
        ordered = query[order]
        last = np.searchsorted(ordered, np.arange(len(self.floor))) + self.k - 1
        full = np.flatnonzero(last < len(ordered))
        full = full[ordered[last[full]] == full]
        np.maximum.at(self.floor, full, low[order[last[full]]])
        kept = np.flatnonzero(high >= self.floor[query])
        self._pairs = (query[kept], row[kept], low[kept], high[kept])
        if len(kept) > self._cut_above:
            self._cut()

    def merge(self, other: Best) -> None:
        """Add the pairs of ``other``, which covers other rows."""
        other.thin()
        np.maximum(self.floor, other.floor, out=self.floor)
        self.add(*other._pairs)

    def result(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return each query's k best in order: rows (−1 where there are fewer) and scores (−∞ there), both q × k."""
        self.thin()
        self._cut()
        query, row, score, _ = self._pairs
        rows = np.full((len(self.floor), self.k), -1, np.int64)
        scores = np.full((len(self.floor), self.k), -np.inf)
        rank = np.arange(len(query)) - np.searchsorted(query, query)
        rows[query, rank], scores[query, rank] = row, score
        return rows, scores

    def _cut(self) -> None:
        """Score the remaining pairs exactly and keep k a query: greatest first, ties by the lower row."""
        query, row, low, high = self._pairs
        rough = np.flatnonzero(low != high)
        score = low.copy()
        score[rough] = self._exact(query[rough], row[rough])
        order = np.lexsort((row, -score, query))
        query, row, score = query[order], row[order], score[order]
        rank = np.arange(len(query)) - np.searchsorted(query, query)
        kept = rank < self.k
        self._pairs = (query[kept], row[kept], score[kept], score[kept])
        kth = rank == self.k - 1
        self.floor[query[kth]] = np.maximum(self.floor[query[kth]], score[kth])
