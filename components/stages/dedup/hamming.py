"""Perceptual hashes few bits apart: all pairs compared, exactly, in blocks that fit a core's cache.

64-bit hashes at up to 10 bits leave no useful room for an index (pigeonhole parts of 5 bits are shared by one in 32), and
counting bits is what processors do fastest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROWS, COLUMNS = 64, 4_096
"""A block is 2 MB of exclusive-ors."""


def near_hashes(hashes: Sequence[str], most: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs (i, j), i < j, of hashes (16 hex digits each) that differ in at most ``most`` bits, block by block."""
    import numpy as np

    bits = np.array([int(text, 16) for text in hashes], dtype=np.uint64)
    for top in range(0, len(bits), ROWS):
        rows = bits[top : top + ROWS, None]
        for left in range(top // COLUMNS * COLUMNS, len(bits), COLUMNS):
            row, column = np.nonzero(np.bitwise_count(rows ^ bits[None, left : left + COLUMNS]) <= most)
            i, j = row + top, column + left
            upper = i < j
            if upper.any():
                yield i[upper], j[upper]
