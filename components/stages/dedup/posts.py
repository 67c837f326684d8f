"""Duplicate posts: images and captions both within their distances (PCV §4.2.2, definitions 1 to 3).

The result equals the paper's algorithm 1 on full float64 matrices without computing them: close captions are found first
(``close_pairs``), and only images of those posts are compared, in float32 where that decides and in float64 elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from components.stages.dedup.close_pairs import DECIMALS, Pairs, close_rows

EDGE = 2e-5
"""Distances this near to the threshold are recomputed in float64; the error of a float32 product of 1280 terms is far less."""
GATHERED = 8_192
"""Pairs of images compared at a time: 80 MB of their vectors."""
BLOCK = 2_048
"""Side of a block of posts compared as a matrix product."""
SMALL = 4_096
"""Largest product of two captions' post counts for which pairs are compared one by one."""
Matched = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
"""Rows of images, in pairs → whether a signal matches them."""


def unit_rows(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return rows of length 1 in float64; a row of zeros stays, at distance 1 from every row, itself included."""
    wide = np.asarray(vectors, np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return wide / np.where(lengths > 0, lengths, 1.0)[:, None]


def image_distances(vectors: NDArray[np.floating], i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return cosine distances of the given pairs of rows, to :data:`~components.stages.dedup.close_pairs.DECIMALS` decimals."""
    parts = [
        np.einsum("ij,ij->i", unit_rows(vectors[i[at : at + GATHERED]]), unit_rows(vectors[j[at : at + GATHERED]]))
        for at in range(0, len(i), GATHERED)
    ]
    return np.round(1.0 - np.concatenate([np.empty(0), *parts]), DECIMALS)


class PostPairs:
    """Pairs of duplicate posts, computed block by block.

    Args:
        captions: TF-IDF rows of the distinct captions.
        caption: index of each post's caption.
        vectors: features of the distinct images, (m, d), any float type.
        image: index of each post's image.
        exact: a number for each distinct image; those with different numbers are never near. None for no such numbers.
    """

    def __init__(
        self,
        captions: csr_matrix,
        caption: NDArray[np.int64],
        vectors: NDArray[np.floating],
        image: NDArray[np.int64],
        exact: NDArray[np.int64] | None = None,
    ) -> None:
        self.captions, self.vectors, self.image = captions, vectors, image
        self.exact = np.full(len(vectors), -1) if exact is None else exact
        self.units = np.empty(vectors.shape, np.float32)
        for at in range(0, len(vectors), BLOCK):
            self.units[at : at + BLOCK] = unit_rows(vectors[at : at + BLOCK])
        self.order = np.argsort(caption, kind="stable")
        self.starts = np.searchsorted(caption[self.order], np.arange(captions.shape[0] + 1))

    def within(self, image: float, caption: float, matched: Matched | None = None) -> Iterator[Pairs]:
        """Yield pairs of posts (indices, the smaller first) within these distances; each pair once.

        Images that ``matched`` matches count as within ``image``.
        """
        first, second = close_rows(self.captions, caption)
        repeated = np.nonzero((np.diff(self.starts) > 1) & (np.diff(self.captions.indptr) > 0))[0]
        first, second = np.concatenate([first, repeated]), np.concatenate([second, repeated])
        sizes = np.diff(self.starts)
        products = sizes[first] * sizes[second]
        for start, end in _runs(products, products <= SMALL, GATHERED):
            i, j = self._spread(first[start:end], second[start:end])
            yield self._sorted(*self._near(i, j, image, matched))
        for one, other in zip(first[products > SMALL].tolist(), second[products > SMALL].tolist(), strict=True):
            for i, j in self._blocks(one, other, image, matched):
                yield self._sorted(i, j)

    def _spread(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Pairs:
        """Return every pair of posts of the two captions, as positions in ``order``."""
        sizes = np.diff(self.starts)
        counts = sizes[first] * sizes[second]
        which = np.repeat(np.arange(len(first)), counts)
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        i = self.starts[first[which]] + within // sizes[second[which]]
        j = self.starts[second[which]] + within % sizes[second[which]]
        # A caption paired with itself gives each pair twice, and each post with itself.
        once = (first[which] != second[which]) | (i < j)
        return i[once], j[once]

    def _near(self, i: NDArray[np.int64], j: NDArray[np.int64], max_distance: float, matched: Matched | None) -> Pairs:
        one, other = self.image[self.order[i]], self.image[self.order[j]]
        decisions = []
        for at in range(0, len(i), GATHERED):
            rough = 1.0 - np.einsum("ij,ij->i", self.units[one[at : at + GATHERED]], self.units[other[at : at + GATHERED]])
            decisions.append(self._decided(rough, one[at : at + GATHERED], other[at : at + GATHERED], max_distance))
        near = np.concatenate([np.empty(0, bool), *decisions])
        if matched is not None:
            near |= matched(one, other)
        near &= self.exact[one] == self.exact[other]
        return i[near], j[near]

    def _blocks(self, first: int, second: int, max_distance: float, matched: Matched | None) -> Iterator[Pairs]:
        for top in range(self.starts[first], self.starts[first + 1], BLOCK):
            down = np.arange(top, min(top + BLOCK, self.starts[first + 1]))
            for left in range(top if first == second else self.starts[second], self.starts[second + 1], BLOCK):
                across = np.arange(left, min(left + BLOCK, self.starts[second + 1]))
                one, other = self.image[self.order[down]], self.image[self.order[across]]
                rough = 1.0 - self.units[one] @ self.units[other].T
                close = rough <= max_distance + EDGE
                if matched is not None:
                    same = matched(np.repeat(one, len(other)), np.tile(other, len(one))).reshape(close.shape)
                    rough[same] = -1.0
                    close |= same
                row, column = np.nonzero(close)
                i, j = down[row], across[column]
                once = np.ones(len(i), bool) if first != second else i < j
                i, j, rough = i[once], j[once], rough[row[once], column[once]]
                one, other = self.image[self.order[i]], self.image[self.order[j]]
                near = self._decided(rough, one, other, max_distance) & (self.exact[one] == self.exact[other])
                yield i[near], j[near]

    def _decided(
        self, rough: NDArray[np.floating], one: NDArray[np.int64], other: NDArray[np.int64], max_distance: float
    ) -> NDArray[np.bool_]:
        """Return which pairs of images are within ``max_distance``; in float64 where ``rough`` is too close to it."""
        near = rough <= max_distance
        undecided = np.nonzero(np.abs(rough - max_distance) <= EDGE)[0]
        near[undecided] = image_distances(self.vectors, one[undecided], other[undecided]) <= max_distance
        return near

    def _sorted(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> Pairs:
        one, other = self.order[i], self.order[j]
        return np.minimum(one, other), np.maximum(one, other)


def _runs(sizes: NDArray[np.int64], wanted: NDArray[np.bool_], most: int) -> Iterator[tuple[int, int]]:
    """Yield runs of adjacent wanted entries with a total size of about ``most`` (at least one entry each)."""
    start, total = 0, 0
    for index, (size, want) in enumerate(zip(sizes.tolist(), wanted.tolist(), strict=True)):
        if not want or (total and total + size > most):
            if index > start:
                yield start, index
            start, total = (index, 0) if want else (index + 1, 0)
        total += size if want else 0
    if start < len(sizes):
        yield start, len(sizes)
