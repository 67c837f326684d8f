"""Duplicate posts: both the pictures and the captions at most so far apart (PCV, definitions 1 to 3).

The result is that of the paper's algorithm 1 on full float64 matrices, without them: captions that are close come first
(``close``), and only pictures of such posts are compared, in float32 where that decides, else in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from components.stages.dedup.close import DECIMALS, close_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

EDGE = 2e-5
"""Distances nearer to the threshold than this are computed in float64: a float32 product of 1280 terms errs by far less."""
GATHERED = 8_192
"""Pairs of pictures compared in one go: 80 MB of their vectors."""
BLOCK = 2_048
"""Side of a block of posts of two captions compared as a matrix product."""
SMALL = 4_096
"""Posts of one caption times posts of another up to which pairs are compared one by one."""


def unit_rows(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Rows of length 1 in float64; a row of zeros stays, at distance 1 from every other and from itself."""
    import numpy as np

    wide = np.asarray(vectors, np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return wide / np.where(lengths > 0, lengths, 1.0)[:, None]


def picture_distances(vectors: NDArray[np.floating], i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cosine distances of the given pairs of rows, to :data:`~components.stages.dedup.close.DECIMALS` decimals."""
    import numpy as np

    parts = [
        np.einsum("ij,ij->i", unit_rows(vectors[i[at : at + GATHERED]]), unit_rows(vectors[j[at : at + GATHERED]]))
        for at in range(0, len(i), GATHERED)
    ]
    return np.round(1.0 - np.concatenate([np.empty(0), *parts]), DECIMALS)


class PostPairs:
    """Pairs of posts that are duplicates, found block by block.

    Args:
        captions: TF-IDF rows of the distinct captions.
        caption: which of them each post has.
        vectors: features of the distinct pictures, (m, d), any float type.
        picture: which of them each post has.
    """

    def __init__(
        self,
        captions: csr_matrix,
        caption: NDArray[np.int64],
        vectors: NDArray[np.floating],
        picture: NDArray[np.int64],
    ) -> None:
        import numpy as np

        self.captions, self.vectors, self.picture = captions, vectors, picture
        self.units = np.empty(vectors.shape, np.float32)
        for at in range(0, len(vectors), BLOCK):
            self.units[at : at + BLOCK] = unit_rows(vectors[at : at + BLOCK])
        self.order = np.argsort(caption, kind="stable")
        self.starts = np.searchsorted(caption[self.order], np.arange(captions.shape[0] + 1))

    def within(self, picture: float, caption: float) -> Iterator[Pairs]:
        """Pairs of posts (their indices, the smaller first) at distances up to these; each pair once."""
        import numpy as np

        first, second = close_rows(self.captions, caption)
        alone = np.nonzero((np.diff(self.starts) > 1) & (np.diff(self.captions.indptr) > 0))[0]
        first, second = np.concatenate([first, alone]), np.concatenate([second, alone])
        sizes = np.diff(self.starts)
        many = sizes[first] * sizes[second]
        for start, end in _runs(many, many <= SMALL, GATHERED):
            i, j = self._spread(first[start:end], second[start:end])
            yield self._sorted(*self._near(i, j, picture))
        for one, other in zip(first[many > SMALL].tolist(), second[many > SMALL].tolist(), strict=True):
            for i, j in self._blocks(one, other, picture):
                yield self._sorted(i, j)

    def _spread(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Pairs:
        """Every pair of a post of the one caption and a post of the other, as places in ``order``."""
        import numpy as np

        sizes = np.diff(self.starts)
        counts = sizes[first] * sizes[second]
        which = np.repeat(np.arange(len(first)), counts)
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        i = self.starts[first[which]] + within // sizes[second[which]]
        j = self.starts[second[which]] + within % sizes[second[which]]
        # Of one caption with itself each pair stands there twice, and each post with itself.
        once = (first[which] != second[which]) | (i < j)
        return i[once], j[once]

    def _near(self, i: NDArray[np.int64], j: NDArray[np.int64], most: float) -> Pairs:
        import numpy as np

        one, other = self.picture[self.order[i]], self.picture[self.order[j]]
        found = []
        for at in range(0, len(i), GATHERED):
            rough = 1.0 - np.einsum("ij,ij->i", self.units[one[at : at + GATHERED]], self.units[other[at : at + GATHERED]])
            found.append(self._decided(rough, one[at : at + GATHERED], other[at : at + GATHERED], most))
        near = np.concatenate([np.empty(0, bool), *found])
        return i[near], j[near]

    def _blocks(self, first: int, second: int, most: float) -> Iterator[Pairs]:
        import numpy as np

        for top in range(self.starts[first], self.starts[first + 1], BLOCK):
            down = np.arange(top, min(top + BLOCK, self.starts[first + 1]))
            for left in range(top if first == second else self.starts[second], self.starts[second + 1], BLOCK):
                across = np.arange(left, min(left + BLOCK, self.starts[second + 1]))
                rough = 1.0 - self.units[self.picture[self.order[down]]] @ self.units[self.picture[self.order[across]]].T
                row, column = np.nonzero(rough <= most + EDGE)
                i, j = down[row], across[column]
                once = np.ones(len(i), bool) if first != second else i < j
                i, j, rough = i[once], j[once], rough[row[once], column[once]]
                near = self._decided(rough, self.picture[self.order[i]], self.picture[self.order[j]], most)
                yield i[near], j[near]

    def _decided(
        self, rough: NDArray[np.floating], one: NDArray[np.int64], other: NDArray[np.int64], most: float
    ) -> NDArray[np.bool_]:
        """Which pairs of pictures are within ``most``, float64 where ``rough`` cannot tell."""
        import numpy as np

        near = rough <= most
        open_ = np.nonzero(np.abs(rough - most) <= EDGE)[0]
        near[open_] = picture_distances(self.vectors, one[open_], other[open_]) <= most
        return near

    def _sorted(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> Pairs:
        import numpy as np

        one, other = self.order[i], self.order[j]
        return np.minimum(one, other), np.maximum(one, other)


def _runs(sizes: NDArray[np.int64], wanted: NDArray[np.bool_], most: int) -> Iterator[tuple[int, int]]:
    """Runs of neighbouring wanted entries of some ``most`` in all (at least one entry each)."""
    start, total = 0, 0
    for index, (size, want) in enumerate(zip(sizes.tolist(), wanted.tolist(), strict=True)):
        if not want or (total and total + size > most):
            if index > start:
                yield start, index
            start, total = (index, 0) if want else (index + 1, 0)
        total += size if want else 0
    if start < len(sizes):
        yield start, len(sizes)
