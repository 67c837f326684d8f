"""Connected components of a graph whose edges come in blocks and are not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PENDING = 1_000_000
"""Edges held before they are worked in."""


class Groups:
    """The connected components of ``count`` nodes; memory for them and :data:`PENDING` edges."""

    def __init__(self, count: int) -> None:
        import numpy as np

        self._labels = np.arange(count, dtype=np.int64)
        self._held: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._waiting = 0

    def add(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> None:
        """Edges from each of ``i`` to the one of ``j`` beside it."""
        if len(i):
            self._held.append((i, j))
            self._waiting += len(i)
        if self._waiting >= PENDING:
            self._work_in()

    def labels(self) -> NDArray[np.int64]:
        """For each node the smallest node of its component."""
        import numpy as np

        self._work_in()
        smallest = np.full(len(self._labels), len(self._labels), np.int64)
        np.minimum.at(smallest, self._labels, np.arange(len(self._labels)))
        return smallest[self._labels]

    def _work_in(self) -> None:
        import numpy as np
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        if not self._held:
            return
        i = self._labels[np.concatenate([pair[0] for pair in self._held])]
        j = self._labels[np.concatenate([pair[1] for pair in self._held])]
        count = len(self._labels)
        # Sums of equal edges must not come to 0: one byte each would, at 256 of them.
        graph = coo_matrix((np.ones(len(i), np.float32), (i, j)), shape=(count, count))
        self._labels = connected_components(graph, directed=False)[1][self._labels].astype(np.int64)
        self._held, self._waiting = [], 0
