"""All pairs of sparse vectors within a cosine distance, exactly, without comparing every pair.

Prefix filter (Bayardo et al. 2007, "Scaling up all pairs similarity search"; the suffix length as bound is from L2AP, Anastasiu
and Karypis 2014): order the words of each vector from rare to frequent, and drop from its end as many as keep the dropped part
shorter than the required cosine. Two vectors that share no remaining word cannot reach it, so only pairs that share one are
compared, in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Indices of the first and of the second item of each pair."""
DECIMALS = 12
"""Decimals that distances are rounded to, so that the order of a sum does not decide at the threshold."""
SLACK = 1e-9
"""Margin of the length bound for rounding errors of its sums."""
PRODUCTS = 4_000_000
"""Common words per block: limits the memory to some hundred MB."""
COMPARED = 65_536
"""Pairs compared at a time."""


def close_rows(rows: csr_matrix, max_distance: float) -> Pairs:
    """Return pairs ``(i, j)``, i < j, sorted, of rows whose cosine distance is at most ``max_distance``.

    Args:
        rows: float64, each of length 1, or empty (then at distance 1 from every row).
        max_distance: at least 0 and below 1.

    Raises:
        ValueError: ``max_distance`` is out of range.
    """
    if not 0 <= max_distance < 1:
        raise ValueError(f"a threshold of {max_distance} is not in [0, 1)")
    ordered = _rare_first(rows)
    firsts, seconds = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for i, j in _candidates(_prefixes(ordered, 1.0 - max_distance)):
        near = distances(ordered, i, j) <= max_distance
        firsts.append(i[near])
        seconds.append(j[near])
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    order = np.lexsort((second, first))
    return first[order], second[order]


def distances(rows: csr_matrix, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return cosine distances of the given pairs of rows, rounded to :data:`DECIMALS` decimals."""
    parts = [
        np.asarray(rows[i[start : start + COMPARED]].multiply(rows[j[start : start + COMPARED]]).sum(axis=1)).ravel()
        for start in range(0, len(i), COMPARED)
    ]
    return np.round(1.0 - np.concatenate([np.empty(0), *parts]), DECIMALS)


def _rare_first(rows: csr_matrix) -> Any:
    """Return the rows with columns ordered by their number of rows, rarest first."""
    frequency = np.bincount(rows.indices, minlength=rows.shape[1])
    rank = np.empty(rows.shape[1], np.int64)
    rank[np.argsort(frequency, kind="stable")] = np.arange(rows.shape[1])
    ordered = csr_matrix((rows.data.copy(), rank[rows.indices], rows.indptr.copy()), shape=rows.shape)
    ordered.sort_indices()
    return ordered


def _prefixes(ordered: Any, cosine: float) -> Any:
    """Return the entries that each row must keep: from each to the end the row is no shorter than ``cosine``."""
    squares = ordered.data**2
    suffix_squares = np.cumsum(squares[::-1])[::-1]
    lengths = np.diff(ordered.indptr)
    after = np.append(suffix_squares, 0.0)[ordered.indptr[1:]]
    kept = suffix_squares - np.repeat(after, lengths) >= cosine**2 - SLACK
    row = np.repeat(np.arange(ordered.shape[0]), lengths)[kept]
    ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=ordered.shape[0]))])
    return csr_matrix((np.ones(int(kept.sum()), np.float32), ordered.indices[kept], ends), shape=ordered.shape)


def _candidates(prefixes: Any) -> Iterator[Pairs]:
    """Yield pairs i < j of rows that share a column, in blocks of about :data:`PRODUCTS` common columns."""
    turned = prefixes.T.tocsr()
    shared = np.bincount(prefixes.indices, minlength=prefixes.shape[1])
    costs = np.concatenate([[0], np.cumsum(shared[prefixes.indices])])[prefixes.indptr]
    start = 0
    while start < prefixes.shape[0]:
        end = max(start + 1, int(np.searchsorted(costs, costs[start] + PRODUCTS, "right")) - 1)
        block = (prefixes[start:end] @ turned).tocoo()
        i, j = block.row.astype(np.int64) + start, block.col.astype(np.int64)
        upper = i < j
        if upper.any():
            yield i[upper], j[upper]
        start = end
