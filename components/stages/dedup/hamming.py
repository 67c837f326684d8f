"""Pairs of similar perceptual hashes: all pairs compared exactly, in blocks that fit a core's cache.

An index does not help for 64-bit hashes at up to 10 bits (pigeonhole parts of 5 bits are shared by one in 32).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS, COLUMNS = 64, 4_096
"""Shape of a block: 2 MB of exclusive-ors."""


def near_hashes(hashes: Sequence[str], max_bits: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield pairs (i, j), i < j, of hashes (16 hex digits each) that differ in at most ``max_bits`` bits, block by block."""
    bits = np.array([int(text, 16) for text in hashes], dtype=np.uint64)
    for top in range(0, len(bits), ROWS):
        rows = bits[top : top + ROWS, None]
        for left in range(top // COLUMNS * COLUMNS, len(bits), COLUMNS):
            row, column = np.nonzero(np.bitwise_count(rows ^ bits[None, left : left + COLUMNS]) <= max_bits)
            i, j = row + top, column + left
            upper = i < j
            if upper.any():
                yield i[upper], j[upper]
