"""All pairs of sparse vectors at a cosine distance up to a threshold, exactly, without comparing every pair.

Prefix filter (Bayardo et al. 2007, "Scaling up all pairs similarity search"; the tail's length as the bound is L2AP's,
Anastasiu and Karypis 2014): with the words of each vector ordered from rare to frequent, drop from its end as many as keep
the dropped part shorter than the wanted cosine. Two vectors that share no word of what is left of both cannot reach it, so only
pairs that share one are compared, in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

DECIMALS = 12
"""A distance is what so many decimals say, so that the order of a sum does not decide at the threshold."""
SLACK = 1e-9
"""Lengths are cut this much more generously than the bound asks, for the rounding of their sums."""
PRODUCTS = 4_000_000
"""Words in common looked at in one go: bounds the memory to some hundred MB."""
COMPARED = 65_536
"""Pairs compared in one go."""


def close_rows(rows: csr_matrix, most: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs ``(i, j)``, i < j, sorted, of rows whose cosine distance is at most ``most``.

    Args:
        rows: float64, each of length 1, or empty (then at distance 1 from every row).
        most: at least 0 and below 1.

    Raises:
        ValueError: ``most`` is out of range.
    """
    import numpy as np

    if not 0 <= most < 1:
        raise ValueError(f"a threshold of {most} is not in [0, 1)")
    ordered = _rare_first(rows)
    found = [_compared(ordered, i, j, most) for i, j in _candidates(_prefixes(ordered, 1.0 - most))]
    first = np.concatenate([np.empty(0, np.int64), *(pair[0] for pair in found)])
    second = np.concatenate([np.empty(0, np.int64), *(pair[1] for pair in found)])
    order = np.lexsort((second, first))
    return first[order], second[order]


def distances(rows: csr_matrix, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cosine distances of the given pairs of rows, to :data:`DECIMALS` decimals."""
    import numpy as np

    parts = [
        np.asarray(rows[i[start : start + COMPARED]].multiply(rows[j[start : start + COMPARED]]).sum(axis=1)).ravel()
        for start in range(0, len(i), COMPARED)
    ]
    return np.round(1.0 - np.concatenate([np.empty(0), *parts]), DECIMALS)


def _rare_first(rows: csr_matrix) -> Any:
    """The same rows with their columns ordered by how many rows hold them, the rarest first."""
    import numpy as np
    from scipy.sparse import csr_matrix

    frequency = np.bincount(rows.indices, minlength=rows.shape[1])
    rank = np.empty(rows.shape[1], np.int64)
    rank[np.argsort(frequency, kind="stable")] = np.arange(rows.shape[1])
    ordered = csr_matrix((rows.data.copy(), rank[rows.indices], rows.indptr.copy()), shape=rows.shape)
    ordered.sort_indices()
    return ordered


def _prefixes(ordered: Any, cosine: float) -> Any:
    """What each row must keep: entries behind which (themselves included) it is no shorter than ``cosine``."""
    import numpy as np
    from scipy.sparse import csr_matrix

    squares = ordered.data**2
    behind = np.cumsum(squares[::-1])[::-1]
    lengths = np.diff(ordered.indptr)
    after = np.append(behind, 0.0)[ordered.indptr[1:]]
    stays = behind - np.repeat(after, lengths) >= cosine**2 - SLACK
    row = np.repeat(np.arange(ordered.shape[0]), lengths)[stays]
    ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=ordered.shape[0]))])
    return csr_matrix((np.ones(int(stays.sum()), np.float32), ordered.indices[stays], ends), shape=ordered.shape)


def _candidates(prefixes: Any) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs i < j of rows that share a column, in blocks of some :data:`PRODUCTS` common columns."""
    import numpy as np

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


def _compared(rows: Any, i: NDArray[np.int64], j: NDArray[np.int64], most: float) -> tuple[Any, Any]:
    near = distances(rows, i, j) <= most
    return i[near], j[near]
