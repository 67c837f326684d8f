"""Which candidate pairs of sketches show the same image: first placement, refined alignment, and the thresholds on both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.stages.dedup.alignment import make_parts, place, refine

BATCH = 192
"""Sketches of either side whose patches are in memory at a time: 150 MB."""
PLACED = 16
"""Pairs placed at a time: 12 MB of their patches."""
REFINED = 8
"""Pairs refined at a time."""
GAIN = 0.2
"""By how much refinement raises a correlation at most, as far as is hoped for: what lacks more is not refined."""
DETAILED = 0.9
"""Correlation of an alignment from which its details can make a match."""


def match_pairs(
    ones: NDArray[np.uint8],
    others: NDArray[np.uint8],
    i: NDArray[np.int64],
    j: NDArray[np.int64],
    cosines: NDArray[np.float32],
    limits: dict[str, Any],
) -> NDArray[np.bool_]:
    """Return which candidate pairs match by ``limits``.

    Args:
        ones, others: sketches, (n, 64, 64).
        i, j: rows of ``ones`` and of ``others``.
        cosines: cosine of the features of each pair.
        limits: the ``aligned`` settings.
    """
    needed = limits["score_from"] - limits["cosine_weight"] * cosines
    far = cosines < limits["cosine_from"]
    needed[far] = np.inf
    tried = np.where(far, np.inf, np.minimum(needed, DETAILED)).astype(np.float32)
    whole, best, details = align_pairs(ones, others, i, j, tried, limits["whole_from"])
    fine = (best >= DETAILED) & (details >= limits["detail_from"])
    return (whole >= limits["whole_from"]) | (best >= needed) | fine


def align_pairs(
    ones: NDArray[np.uint8],
    others: NDArray[np.uint8],
    i: NDArray[np.int64],
    j: NDArray[np.int64],
    needed: NDArray[np.float32],
    enough: float = 2.0,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Return each pair's correlation of the whole sketches in any turn or mirroring, of the best alignment, and of details in it.

    The last two are 0 where the second could not reach ``needed`` (one for each pair), or where the first is ``enough``.
    """
    whole, best, details = (np.zeros(len(i), np.float32) for _ in range(3))
    reversed_, maps = np.zeros(len(i), bool), np.zeros((len(i), 2, 3), np.float32)
    for pairs, placed, first, reverse, found in _placements(ones, others, i, j):
        whole[pairs], best[pairs], reversed_[pairs], maps[pairs] = placed, first, reverse, found
    promising = np.nonzero((whole < enough) & (best >= needed - GAIN))[0]
    best[:] = 0
    for at in range(0, len(promising), REFINED):
        some = promising[at : at + REFINED]
        one, other, turned = ones[i[some]], others[j[some]], reversed_[some][:, None, None]
        inner, outer = np.where(turned, other, one), np.where(turned, one, other)
        best[some], details[some] = refine(inner, outer, maps[some], needed[some])
    return whole, best, details


def _placements(ones: Any, others: Any, i: Any, j: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the indices of some pairs, and what ``place`` returns for them."""
    rows_i, at_i = np.unique(i, return_inverse=True)
    for top in range(0, len(rows_i), BATCH):
        pairs = np.nonzero((at_i >= top) & (at_i < top + BATCH))[0]
        own = make_parts(ones[rows_i[top : top + BATCH]])
        rows_j, at_j = np.unique(j[pairs], return_inverse=True)
        for left in range(0, len(rows_j), BATCH):
            block = np.nonzero((at_j >= left) & (at_j < left + BATCH))[0]
            parts = make_parts(others[rows_j[left : left + BATCH]])
            for at in range(0, len(block), PLACED):
                some = block[at : at + PLACED]
                yield pairs[some], *place(own.take(at_i[pairs[some]] - top), parts.take(at_j[some] - left))
