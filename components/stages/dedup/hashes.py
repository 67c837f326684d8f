"""All pairs of 64-bit hashes within a Hamming radius, exactly, without comparing every pair.

Pigeonhole on blocks of bits (Manku, Jain and Das Sarma 2007, "Detecting near-duplicates for web crawling"): cut the 64 bits into
``radius + equal`` blocks. Two hashes that differ in at most ``radius`` bits are equal in at least ``equal`` blocks, so for each
choice of that many blocks the hashes are sorted by them, and only those equal there are compared. A larger ``equal`` means more
sorts and fewer comparisons: two blocks suit the radius of images and some hundred thousand hashes (``benchmarks/README.md``). Few
hashes, and a large radius, are faster compared one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.stages.dedup.close_pairs import Pairs

ROWS, COLUMNS = 64, 4_096
"""Shape of a block of the comparison of all pairs: 2 MB of exclusive-ors."""
FEW, FAR = 20_000, 12
"""Up to so many hashes, and from a radius of more bits, every pair is compared."""
EQUAL = 2
"""Blocks in which compared hashes are equal elsewhere."""
_LOW = np.uint64(32)
_INDEX = np.uint64(0xFFFFFFFF)
_MIX = np.uint64(0x9E3779B97F4A7C15)


def near_hashes(bits: NDArray[np.uint64], max_bits: int) -> Iterator[Pairs]:
    """Yield pairs (i, j), i < j, of 64-bit hashes that differ in at most ``max_bits`` bits, each pair once.

    The order of the pairs is not defined. Memory: about 40 bytes for each hash.
    """
    yield from near_all(bits, max_bits) if len(bits) <= FEW or max_bits > FAR else near_equal(bits, max_bits, EQUAL)


def near_all(bits: NDArray[np.uint64], max_bits: int) -> Iterator[Pairs]:
    """Yield the pairs of :func:`near_hashes` by comparing every pair."""
    for top in range(0, len(bits), ROWS):
        rows = bits[top : top + ROWS, None]
        for left in range(top // COLUMNS * COLUMNS, len(bits), COLUMNS):
            row, column = np.nonzero(np.bitwise_count(rows ^ bits[None, left : left + COLUMNS]) <= max_bits)
            i, j = row + top, column + left
            upper = i < j
            if upper.any():
                yield i[upper], j[upper]


def near_equal(bits: NDArray[np.uint64], max_bits: int, equal: int) -> Iterator[Pairs]:
    """Yield the pairs of :func:`near_hashes` by comparing hashes equal in ``equal`` of ``max_bits + equal`` blocks."""
    blocks = block_masks(max_bits + equal)
    for chosen in combinations(range(len(blocks)), equal):
        mask = np.bitwise_or.reduce(blocks[list(chosen)])
        order, keys = _sorted_by(bits, mask)
        ordered = bits[order]
        # A pair that is equal in further blocks is yielded for the first choice alone.
        others = [blocks[n] for n in range(chosen[-1]) if n not in chosen]
        for start, step in _equal_runs(keys):
            differing = ordered[start] ^ ordered[start + step]
            near = (np.bitwise_count(differing) <= max_bits) & ((differing & mask) == 0)
            for block in others:
                near &= (differing & block) != 0
            if near.any():
                one, other = order[start[near]], order[start[near] + step]
                yield np.minimum(one, other), np.maximum(one, other)


def block_masks(number: int) -> NDArray[np.uint64]:
    """Return the masks of ``number`` blocks of adjacent bits, which cover all 64."""
    edges = [64 * n // number for n in range(number + 1)]
    return np.array([(1 << end) - (1 << start) for start, end in pairwise(edges)], np.uint64)


def _sorted_by(bits: NDArray[np.uint64], mask: Any) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return an order in which hashes equal under ``mask`` are adjacent, and the keys, equal for those.

    Keys are 32 bits of a multiplicative hash. Keys that are equal by chance cost a comparison and change nothing.
    """
    # One sort of 64-bit numbers, the key above the index, is several times as fast as argsort.
    packed = (((bits & mask) * _MIX) & ~_INDEX) | np.arange(len(bits), dtype=np.uint64)
    packed.sort()
    return (packed & _INDEX).astype(np.int64), packed >> _LOW


def _equal_runs(keys: NDArray[np.uint64]) -> Iterator[tuple[NDArray[np.int64], int]]:
    """Yield (positions, step) such that each two positions of a run of equal sorted keys appear once."""
    start = np.arange(len(keys), dtype=np.int64)
    step = 1
    while len(start):
        start = start[: np.searchsorted(start, len(keys) - step)]
        start = start[keys[start] == keys[start + step]]
        if len(start):
            yield start, step
        step += 1
