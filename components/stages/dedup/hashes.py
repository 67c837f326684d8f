"""All pairs of 64-bit hashes within a Hamming radius, exactly, without comparing every pair.

Pigeonhole on blocks of bits (Manku, Jain and Das Sarma 2007, "Detecting near-duplicates for web crawling"): cut the 64 bits into
``radius + equal`` blocks. Two hashes that differ in at most ``radius`` bits are equal in at least ``equal`` blocks, so for each
choice of that many blocks the hashes are sorted by them, and only those equal there are compared. A larger ``equal`` means more
sorts and fewer comparisons. The choice follows the hashes at hand, since those of real images are not uniform; ``equal`` 0
compares all pairs, which is best for few hashes and for a large radius.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice, pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.stages.dedup.close_pairs import Pairs

ROWS, COLUMNS = 64, 4_096
"""Shape of a block of the comparison of all pairs: 2 MB of exclusive-ors."""
MOST_EQUAL = 4
"""Largest number of equal blocks tried: 210 sorts for a radius of 6."""
SAMPLED = 4
"""Choices of blocks whose comparisons are counted before a plan is chosen."""
COMPARE, SORT, CANDIDATE = 1.0, 8.0, 2.5
"""Time of a comparison in a block of all pairs, of a hash in one sort, and of a comparison of equal blocks, as ratios
(`benchmarks/README.md` has the figures)."""
_LOW = np.uint64(32)
_INDEX = np.uint64(0xFFFFFFFF)
_MIX = np.uint64(0x9E3779B97F4A7C15)


def near_hashes(bits: NDArray[np.uint64], max_bits: int) -> Iterator[Pairs]:
    """Yield pairs (i, j), i < j, of 64-bit hashes that differ in at most ``max_bits`` bits, each pair once.

    The order of the pairs is not defined. Memory: about 40 bytes for each hash.
    """
    equal = choose_equal(bits, max_bits)
    yield from near_equal(bits, max_bits, equal) if equal else near_all(bits, max_bits)


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


def choose_equal(bits: NDArray[np.uint64], max_bits: int) -> int:
    """Return the number of equal blocks that takes the least time by the counts of a few sorts; 0 to compare all pairs."""
    count = len(bits)
    best, least = 0, COMPARE * count * count / 2
    for equal in range(1, MOST_EQUAL + 1):
        choices = comb(max_bits + equal, equal)
        if max_bits + equal > 64 or SORT * choices * count >= least:
            break
        blocks = block_masks(max_bits + equal)
        # Evenly spread choices: neighbouring bits of a perceptual hash are not alike.
        sampled = islice(combinations(range(len(blocks)), equal), 0, None, max(1, choices // SAMPLED))
        found = [_pairs_in_runs(_sorted_by(bits, np.bitwise_or.reduce(blocks[list(chosen)]))[1]) for chosen in sampled]
        cost = choices * (SORT * count + CANDIDATE * sum(found) / len(found))
        if cost < least:
            best, least = equal, cost
    return best


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


def _pairs_in_runs(keys: NDArray[np.uint64]) -> int:
    edges = np.flatnonzero(np.diff(keys)) + 1
    sizes = np.diff(np.concatenate([[0], edges, [len(keys)]])).astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())
