"""Refinement of an alignment: the affine map between two sketches at which they correlate most.

Gauss-Newton steps on a · outer(map(x)) + b = inner(x), coarse sketches first, for many pairs at once (Lucas and Kanade 1981, with
gain and offset). Maps are 2 × 3 matrices from points of the inner sketch to points of the outer, both with sides from -1 to 1.

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


LEVELS = ((32, 5), (64, 2))
"""Side in pixels and number of steps, from coarse to fine."""
GAIN = 0.1
"""By how much the fine side raises the correlation of the coarse one at most, as far as is hoped for."""
DAMPING = 1e-3
"""Share of the mean diagonal that is added to it, so that a uniform part moves nothing."""
FLAT = 1e-3
"""Length per pixel below which an overlap counts as uniform, which matches nothing."""
OVERLAP = 0.5
"""Smallest share of the inner sketch that lies in the outer."""
LEAST_AREA, MOST_STRETCH = 0.2, 2.5
"""Smallest area of the inner sketch in the outer, and greatest ratio of its sides' scales: beyond, maps fit plain grounds."""
FINE, COARSE = 3, 9
"""Sides in pixels of the means between which details lie: a part enlarged has nothing finer, and a layout is coarser."""


def grid(side: int) -> NDArray[np.float32]:
    """Return the centres of side² pixels, row by row: (side², 2), x before y, from -1 to 1."""
    at = ((np.arange(side) + 0.5) * 2 / side - 1).astype(np.float32)
    y, x = np.meshgrid(at, at, indexing="ij")
    return np.stack([x.ravel(), y.ravel()], axis=1)


def refine(
    inner: NDArray[np.uint8], outer: NDArray[np.uint8], maps: NDArray[np.float32], needed: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the correlations of n pairs and of their details after improving their maps, 0 where a map is none that people make.

    Args:
        inner, outer: sketches, (n, 64, 64); row n of both is pair n.
        maps: (n, 2, 3), the first alignments, from ``inner`` to ``outer``.
        needed: (n,) correlations below which neither exact value matters; the details of such pairs are 0.
    """
    maps, best, details = maps.copy(), np.zeros(len(maps), np.float32), np.zeros(len(maps), np.float32)
    rows = np.arange(len(maps))
    for side, steps in LEVELS:
        if not len(rows):
            break
        points = grid(side)
        one = _at_side(inner[rows], side)
        stack = np.stack([other := _at_side(outer[rows], side), *_gradients(other)], axis=-1)
        one, here = one.reshape(len(rows), -1), maps[rows]
        for _ in range(steps):
            here = here + _step(one, *_warped(stack, here, points), points)
        seen, inside = _warped(stack[..., :1], here, points)
        maps[rows] = here
        plausible = _plausible(here, inside)
        best[rows] = np.where(plausible, _correlation(one, seen[..., 0], inside), 0)
        if side == LEVELS[-1][0]:
            details[rows] = np.where(plausible & (best[rows] >= needed[rows]), _detail(one, seen[..., 0], inside, side), 0)
        rows = rows[best[rows] >= needed[rows] - GAIN]
    return best, details


def _detail(one: Any, other: Any, inside: Any, side: int) -> Any:
    """Return the correlation of two images without their coarse brightness, which different scenes of one layout share."""
    seen = inside.reshape(-1, side, side).astype(np.float32)
    share = np.maximum(_mean(seen, COARSE), 1e-6)
    fine = [_mean(grey.reshape(seen.shape), FINE) for grey in (one, other)]
    one, other = ((grey - _mean(grey * seen, COARSE) / share).reshape(inside.shape) for grey in fine)
    return _correlation(one, other, inside)


def _mean(images: Any, side: int) -> Any:
    """Return the mean of the ``side``² pixels around each pixel of images (n, side, side)."""
    count = images.shape[1]
    near = np.abs(np.subtract.outer(np.arange(count), np.arange(count))) <= side // 2
    weights = (near / near.sum(1, keepdims=True)).astype(np.float32)
    return weights @ images @ weights.T


def _at_side(sketches: NDArray[np.uint8], side: int) -> NDArray[np.float32]:
    grey = sketches.astype(np.float32)
    return grey if side == grey.shape[1] else resized(grey, side, side)


def _plausible(maps: Any, inside: Any) -> Any:
    """Return which maps keep OVERLAP, LEAST_AREA and MOST_STRETCH."""
    scales = np.linalg.svd(maps[:, :, :2].astype(np.float64), compute_uv=False)
    even = scales[:, 0] <= MOST_STRETCH * scales[:, 1]
    return even & (scales[:, 0] * scales[:, 1] >= LEAST_AREA) & (inside.mean(1) >= OVERLAP)


def _gradients(sketches: NDArray[np.float32]) -> Any:
    down, across = np.gradient(sketches, axis=(1, 2))
    scale = sketches.shape[1] / 2
    return across * scale, down * scale


def _warped(stack: Any, maps: Any, points: Any) -> tuple[Any, Any]:
    """Return the layers at the mapped points, bilinearly: (n, points, layers), and which points lie inside."""
    n, side = stack.shape[:2]
    at = points @ maps[:, :, :2].transpose(0, 2, 1) + maps[:, None, :, 2]
    inside = (np.abs(at) <= 1).all(-1)
    pixel = np.clip((at + 1) * side / 2 - 0.5, 0, side - 1.001)
    whole = pixel.astype(np.int32)
    share = pixel - whole
    flat = stack.reshape(n * side * side, -1)
    corner = whole[..., 1] * side + whole[..., 0] + (np.arange(n) * side * side)[:, None]
    x, y = share[..., :1], share[..., 1:]
    top = flat[corner] * (1 - x) + flat[corner + 1] * x
    bottom = flat[corner + side] * (1 - x) + flat[corner + side + 1] * x
    return top * (1 - y) + bottom * y, inside


def _step(one: Any, seen: Any, inside: Any, points: Any) -> Any:
    """Return the change of the maps that one least-squares fit asks for."""
    value, across, down = seen[..., 0], seen[..., 1], seen[..., 2]
    x, y = points[:, 0], points[:, 1]
    columns = (
        np.stack([across * x, across * y, across, down * x, down * y, down, value, np.ones_like(value)], axis=-1)
        * inside[..., None]
    )
    normal = columns.transpose(0, 2, 1) @ columns
    right = columns.transpose(0, 2, 1) @ (one * inside)[..., None]
    diagonal = np.einsum("nii->ni", normal)
    diagonal += DAMPING * diagonal.mean(1, keepdims=True) + 1e-6
    solved = np.linalg.solve(normal.astype(np.float64), right.astype(np.float64))[..., 0]
    gain = solved[:, 6:7]
    moved = solved[:, :6] / np.where(np.abs(gain) > 0.1, gain, np.inf)
    return np.clip(moved, -0.2, 0.2).astype(np.float32).reshape(-1, 2, 3)


def _correlation(one: Any, other: Any, inside: Any) -> Any:
    count = np.maximum(inside.sum(1, keepdims=True), 1)
    one = np.where(inside, one - (one * inside).sum(1, keepdims=True) / count, 0)
    other = np.where(inside, other - (other * inside).sum(1, keepdims=True) / count, 0)
    lengths = np.sqrt((one**2).sum(1) * (other**2).sum(1))
    return np.where(lengths > FLAT * count[:, 0], (one * other).sum(1) / np.maximum(lengths, 1e-9), 0)
