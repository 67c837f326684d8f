"""The first alignment of two sketches: which one, whole, turned or mirrored, lies where in the other.

All placements are compared at 16 × 16 by normalised cross-correlation: eight turns and mirrorings, widths and heights from 62 to
100 %, every position, either sketch in the other; and the middle part at some small angles.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from components.stages.dedup.sketches import all_symmetries, resized, unit

SIDE = 16
"""Side in pixels of the sketches compared."""
SIDES = (16, 14, 13, 11, 10)
"""Widths and heights in pixels of the part of one sketch that the other may be."""
MIDDLE = 12
"""Side in pixels of the middle part compared at small angles."""
ANGLES = (-12.0, -6.0, 6.0, 12.0)
"""Degrees by which the middle of a sketch is turned back."""
SHAPES = tuple(product(SIDES, SIDES))
"""Height and width of each part."""


class Parts(NamedTuple):
    """The patches by which a batch of sketches is compared; the first axis is the sketch. About 0.4 MB a sketch."""

    windows: list[NDArray[np.float32]]
    """For each of SHAPES, and MIDDLE, every position: (n, positions, pixels), each of mean 0 and length 1."""
    templates: list[NDArray[np.float32]]
    """For each of SHAPES the whole sketch in eight turns and mirrorings: (n, 8, pixels); at last the middle at ANGLES."""

    def take(self, rows: Any) -> Parts:
        """Return the patches of some of the sketches."""
        return Parts([one[rows] for one in self.windows], [one[rows] for one in self.templates])


def make_parts(sketches: NDArray[np.uint8]) -> Parts:
    """Return the patches of ``sketches`` (n, 64, 64)."""
    grey = resized(sketches.astype(np.float32), 2 * SIDE, 2 * SIDE)
    small = resized(grey, SIDE, SIDE)
    windows, templates = [], []
    for height, width in SHAPES:
        windows.append(_windows(small, height, width))
        templates.append(unit(all_symmetries(grey, height, width)))
    windows.append(_windows(small, MIDDLE, MIDDLE))
    templates.append(unit(np.einsum("apq,nq->nap", _rotations(), small.reshape(len(grey), SIDE * SIDE), optimize=True)))
    return Parts(windows, templates)


def _windows(small: NDArray[np.float32], height: int, width: int) -> NDArray[np.float32]:
    positions = sliding_window_view(small, (height, width), axis=(1, 2))
    return unit(positions.reshape(len(small), -1, height * width))


def place(ones: Parts, others: Parts) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], NDArray[np.float32]]:
    """Return the best placement of n pairs of sketches; row n of both is pair n.

    Returns:
        (n,) correlation of the whole sketches in any turn or mirroring; (n,) correlation of the best placement; (n,) whether the
        second lies in the first instead of the first in the second; (n, 2, 3) maps from points of what lies inside to the outer.
    """
    rows = np.arange(len(ones.windows[0]))
    best = np.full(len(rows), -1.0, np.float32)
    code = np.zeros((len(rows), 4), np.int64)
    whole = best
    for number in range(len(ones.windows)):
        for reverse, outer, inner in ((0, others.windows, ones.templates), (1, ones.windows, others.templates)):
            table = outer[number] @ inner[number].transpose(0, 2, 1)
            flat = table.reshape(len(rows), -1)
            top = flat.argmax(1)
            value = flat[rows, top]
            better = np.nonzero(value > best)[0]
            best = np.maximum(best, value)
            position, symmetry = np.divmod(top[better], table.shape[2])
            code[better, 0], code[better, 1], code[better, 2], code[better, 3] = number, reverse, position, symmetry
            if number == 0 and not reverse:
                whole = value
    maps = np.array([_map(*row) for row in code[:, [0, 2, 3]].tolist()], np.float32).reshape(-1, 2, 3)
    return whole, best, code[:, 1].astype(bool), maps


@cache
def _map(number: int, position: int, symmetry: int) -> Any:
    """Return the map of a placement, (2, 3)."""
    height, width = (*SHAPES, (MIDDLE, MIDDLE))[number]
    y, x = divmod(position, SIDE - width + 1)
    offset = np.array([2 * x + width, 2 * y + height]) / SIDE - 1
    if number < len(SHAPES):
        linear = np.diag([width / SIDE, height / SIDE]) @ _symmetry(symmetry)
    else:
        angle = np.radians(ANGLES[symmetry])
        linear = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.concatenate([linear, offset[:, None]], axis=1)


@lru_cache(maxsize=8)
def _symmetry(number: int) -> Any:
    """Return the matrix from a point of a sketch to its place in the sketch's ``number``-th turn or mirroring."""
    at = np.array([-1.0, 1.0], np.float32)
    across, down = np.broadcast_to(at[None, :], (1, 2, 2)), np.broadcast_to(at[None, :, None], (1, 2, 2))
    # What is seen at the right of the turned sketch, and at its bottom, against its left and top.
    seen = [all_symmetries(np.ascontiguousarray(axis), 2, 2)[0, number].reshape(2, 2) for axis in (across, down)]
    columns = [[(axis[0, 1] - axis[0, 0]) / 2, (axis[1, 0] - axis[0, 0]) / 2] for axis in seen]
    return np.array(columns).T


@lru_cache(maxsize=1)
def _rotations() -> Any:
    """Return for each of ANGLES the matrix (MIDDLE², SIDE²) that reads the middle of a sketch turned back by it, bilinearly."""
    middle = (SIDE - 1) / 2
    y, x = np.mgrid[:MIDDLE, :MIDDLE].reshape(2, -1) - (MIDDLE - 1) / 2
    matrices = np.zeros((len(ANGLES), MIDDLE * MIDDLE, SIDE * SIDE), np.float32)
    for matrix, angle in zip(matrices, np.radians(ANGLES), strict=True):
        down = np.clip(y * np.cos(angle) + x * np.sin(angle) + middle, 0, SIDE - 1.001)
        across = np.clip(x * np.cos(angle) - y * np.sin(angle) + middle, 0, SIDE - 1.001)
        top, left = down.astype(int), across.astype(int)
        for dy, dx in product((0, 1), (0, 1)):
            share = np.abs(1 - dy - (down - top)) * np.abs(1 - dx - (across - left))
            matrix[np.arange(MIDDLE * MIDDLE), (top + dy) * SIDE + left + dx] += share
    return matrices
