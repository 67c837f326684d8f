"""Dot products that are bitwise reproducible for any way of computing them.

A matrix product rounds each partial sum, in an order that depends on the library, its threads and the block's shape, so equal
items may differ in the last bits and get different ranks. Here vectors are split into two parts of integers so small that no
partial sum is rounded (Ozaki, Ogita, Oishi and Rump 2012): each score is a function of its two vectors alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

DIGITS = 53
"""Bits of a float64's significand: integers below 2^53 add without rounding."""


class SplitVectors(NamedTuple):
    """Vectors as sums of two parts whose products add exactly."""

    high: NDArray[np.float64]
    """n × D: the leading bits, relative to the row's largest value."""
    low: NDArray[np.float64]
    """n × D: the next bits, as many again."""
    finite: NDArray[np.bool_]
    """n: whether the row is finite; other rows are zeros here."""

    def rows(self, chosen: NDArray[np.int64] | slice) -> SplitVectors:
        """Return some of the vectors."""
        return SplitVectors(self.high[chosen], self.low[chosen], self.finite[chosen])


def split_vectors(vectors: ArrayLike) -> SplitVectors:
    """Split n × D vectors for :func:`exact_scores`.

    Each row keeps ``53 − log2 D`` bits, rounded down to even, from its largest value down (42 at D = 1536): all 24 bits of
    float32 for values up to 2^18 times smaller than the largest. A score's error is therefore at most D · 2^−40 times the product
    of both rows' largest values.

    Raises:
        ValueError: it is not a matrix.
    """
    values = np.array(vectors, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"vectors must be a matrix, not of shape {values.shape}")
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(values).all(axis=1))
    values[~finite] = 0.0
    width = max(1, values.shape[1])
    bits = (DIGITS - math.ceil(math.log2(width))) // 2
    largest = np.abs(values).max(axis=1, initial=0.0)
    unit = np.ldexp(1.0, np.frexp(largest)[1] - bits)[:, None]
    high = np.rint(values / unit)
    low = np.rint((values / unit - high) * 2.0**bits)
    return SplitVectors(high * unit, low * (unit * 2.0**-bits), finite)


def exact_scores(queries: SplitVectors, items: SplitVectors) -> NDArray[np.float64]:
    """Return the dot products of every query with every item, n × m; −inf for vectors that are not finite.

    Raises:
        ValueError: dimensions differ.
    """
    _match(queries, items)
    first = queries.high @ items.high.T
    second = np.hstack([queries.high, queries.low]) @ np.hstack([items.low, items.high]).T
    second += queries.low @ items.low.T
    first += second
    first[~queries.finite] = -math.inf
    first[:, ~items.finite] = -math.inf
    return first


def paired_scores(queries: SplitVectors, items: SplitVectors) -> NDArray[np.float64]:
    """Return the score of each query with the item at the same index, n: equal to :func:`exact_scores`.

    Raises:
        ValueError: dimensions differ.
    """
    _match(queries, items)
    second = _rows(queries.high, items.low) + _rows(queries.low, items.high)
    scores: NDArray[np.float64] = _rows(queries.high, items.high) + (second + _rows(queries.low, items.low))
    scores[~(queries.finite & items.finite)] = -math.inf
    return scores


def _rows(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    products: NDArray[np.float64] = np.einsum("nd,nd->n", one, other)
    return products


def _match(queries: SplitVectors, items: SplitVectors) -> None:
    if queries.high.shape[1] != items.high.shape[1]:
        raise ValueError(f"queries have {queries.high.shape[1]} dimensions, items {items.high.shape[1]}")
