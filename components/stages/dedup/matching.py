"""Which candidate pairs of sketches show the same picture: first placement, refined alignment, and the thresholds on both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.stages.dedup.alignment import refine
from components.stages.dedup.placements import make_parts, place

BATCH = 64
"""Sketches of either side whose patches are in memory at a time: 50 MB."""
REFINED = 32
"""Pairs refined at a time."""
PROMISING = 0.6
"""Correlation of the first placement from which it is refined."""


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
    whole, score = align_pairs(ones, others, i, j)
    fits = (cosines >= limits["cosine_from"]) & (score + limits["cosine_weight"] * cosines >= limits["score_from"])
    return (whole >= limits["whole_from"]) | fits


def align_pairs(
    ones: NDArray[np.uint8], others: NDArray[np.uint8], i: NDArray[np.int64], j: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the correlation of each pair's whole sketches in any turn or mirroring, and that of their best alignment."""
    whole, best = np.zeros(len(i), np.float32), np.zeros(len(i), np.float32)
    for pairs, placed, first, reverse, maps in _placements(ones, others, i, j):
        whole[pairs], best[pairs] = placed, first
        promising = np.nonzero(first >= PROMISING)[0]
        for at in range(0, len(promising), REFINED):
            some = promising[at : at + REFINED]
            one, other = ones[i[pairs[some]]], others[j[pairs[some]]]
            turned = reverse[some][:, None, None]
            inner, outer = np.where(turned, other, one), np.where(turned, one, other)
            best[pairs[some]] = refine(inner, outer, maps[some])[1]
    return whole, best


def _placements(ones: Any, others: Any, i: Any, j: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the indices of the pairs of a row of ``ones`` with a batch of ``others``, and what ``place`` returns for them."""
    order = np.lexsort((j, i))
    rows_j = np.unique(j)
    for top in range(0, len(rows_j), BATCH):
        batch = rows_j[top : top + BATCH]
        pairs = order[(j[order] >= batch[0]) & (j[order] <= batch[-1])]
        parts = make_parts(others[batch])
        rows, starts = np.unique(i[pairs], return_index=True)
        groups = np.split(pairs, starts[1:])
        for at in range(0, len(rows), BATCH):
            own = make_parts(ones[rows[at : at + BATCH]])
            for number, some in enumerate(groups[at : at + BATCH]):
                yield some, *place(own.take([number]), parts.take(np.searchsorted(batch, j[some])))
