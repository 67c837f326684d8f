"""Connected components of records whose perceptual hashes are close."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

BLOCK = 2048
"""Rows compared at a time: bounds the distance matrix to BLOCK × n bytes."""


def group_by_distance(hashes: Sequence[str], max_distance: int) -> list[int]:
    """Label each hash with its connected component under Hamming distance ≤ ``max_distance``.

    Args:
        hashes: 64-bit hashes, 16 hex digits each.
        max_distance: bits that may differ between neighbours.

    Returns:
        One label a hash: the index of the component's first hash. All pairs are compared, exactly, block by block.
    """
    bits = np.array([int(text, 16) for text in hashes], dtype=np.uint64)
    parent = list(range(len(bits)))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for start in range(0, len(bits), BLOCK):
        block = bits[start : start + BLOCK]
        # Only pairs to the right of the diagonal: distance is symmetric.
        near = np.bitwise_count(block[:, None] ^ bits[None, start:]) <= max_distance
        for row, column in zip(*np.nonzero(np.triu(near, k=1)), strict=True):
            one, other = root(start + int(row)), root(start + int(column))
            if one != other:
                parent[max(one, other)] = min(one, other)
    return [root(node) for node in range(len(bits))]
