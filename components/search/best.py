"""Of each query, the rows that may still be among its k best: kept with bounds of their scores, thinned as bounds improve."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Exact = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]
"""Pairs of query and row to their exact scores."""

FEW_PAIRS = 1 << 17


class Best:
    """Pairs (query, row) with a lower and an upper bound of the score; ``floor[q]`` is a lower bound of the k-th best score.

    A pair whose upper bound is below its query's floor cannot be among the k best, for k pairs of that query are better: it is
    dropped. One whose upper bound equals the floor may tie with the k-th and stays.
    """

    def __init__(self, queries: int, k: int, exact: Exact) -> None:
        self.k = k
        self.floor = np.full(queries, -np.inf)
        self._exact = exact
        self._pairs = _nothing()
        self._new: list[tuple[NDArray, ...]] = []
        self._waiting = 0
        self._often = max(queries * k, 1024)
        self._most = max(4 * queries * k, FEW_PAIRS)

    def add(self, query: NDArray[np.int64], row: NDArray[np.int64], low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
        """Take pairs that were not there before; thins when as many came as queries can have."""
        if not len(query):
            return
        self._new.append((query, row, low, high))
        self._waiting += len(query)
        if self._waiting >= self._often:
            self.thin()

    def thin(self) -> None:
        """Raise the floors by the lower bounds that are known, and drop what is below them.

        Where ties, or scores that differ by less than the bounds, leave too many, they are scored exactly and cut to k a query,
        so that memory is bounded whatever the vectors are.
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
        if len(kept) > self._most:
            self._cut()

    def take(self, other: Best) -> None:
        """Take another's pairs, of other rows."""
        other.thin()
        np.maximum(self.floor, other.floor, out=self.floor)
        self.add(*other._pairs)

    def first(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The k best of each query, in order: rows (−1 where there are fewer) and scores (−∞ there), both q × k."""
        self.thin()
        self._cut()
        query, row, score, _ = self._pairs
        rows = np.full((len(self.floor), self.k), -1, np.int64)
        scores = np.full((len(self.floor), self.k), -np.inf)
        place = np.arange(len(query)) - np.searchsorted(query, query)
        rows[query, place], scores[query, place] = row, score
        return rows, scores

    def _cut(self) -> None:
        """Score exactly what is not yet, keep k of each query: greatest first, of equal ones the lower row first."""
        query, row, low, high = self._pairs
        rough = np.flatnonzero(low != high)
        score = low.copy()
        score[rough] = self._exact(query[rough], row[rough])
        order = np.lexsort((row, -score, query))
        query, row, score = query[order], row[order], score[order]
        place = np.arange(len(query)) - np.searchsorted(query, query)
        kept = place < self.k
        self._pairs = (query[kept], row[kept], score[kept], score[kept])
        kth = place == self.k - 1
        self.floor[query[kth]] = np.maximum(self.floor[query[kth]], score[kth])


def _nothing() -> tuple[NDArray, ...]:
    return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0)
