"""Connected components of a graph whose edges arrive in blocks and are not stored."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

PENDING = 1_000_000
"""Edges collected before they are merged."""


class Groups:
    """The connected components of ``count`` nodes; memory for the nodes and :data:`PENDING` edges."""

    def __init__(self, count: int) -> None:
        self._labels = np.arange(count, dtype=np.int64)
        self._pending: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._pending_edges = 0

    def add(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> None:
        """Add edges from each of ``i`` to its counterpart in ``j``."""
        if len(i):
            self._pending.append((i, j))
            self._pending_edges += len(i)
        if self._pending_edges >= PENDING:
            self._merge_pending()

    def labels(self) -> NDArray[np.int64]:
        """Return for each node the smallest node of its component."""
        self._merge_pending()
        smallest = np.full(len(self._labels), len(self._labels), np.int64)
        np.minimum.at(smallest, self._labels, np.arange(len(self._labels)))
        return smallest[self._labels]

    def _merge_pending(self) -> None:
        if not self._pending:
            return
        i = self._labels[np.concatenate([pair[0] for pair in self._pending])]
        j = self._labels[np.concatenate([pair[1] for pair in self._pending])]
        count = len(self._labels)
        # Repeated edges are summed: one-byte values would overflow to 0 at 256.
        graph = coo_matrix((np.ones(len(i), np.float32), (i, j)), shape=(count, count))
        self._labels = connected_components(graph, directed=False)[1][self._labels].astype(np.int64)
        self._pending, self._pending_edges = [], 0
