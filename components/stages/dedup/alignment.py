"""Refinement of an alignment: the affine map between two sketches at which they correlate most.

Gauss-Newton steps on a · outer(map(x)) + b = inner(x), coarse sketches first, for many pairs at once (Lucas and Kanade 1981, with
gain and offset). Maps are 2 × 3 matrices from points of the inner sketch to points of the outer, both with sides from -1 to 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.stages.dedup.sketches import resized

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
    """Return the correlation of two pictures without their coarse brightness, which different scenes of one layout share."""
    seen = inside.reshape(-1, side, side).astype(np.float32)
    share = np.maximum(_mean(seen, COARSE), 1e-6)
    fine = [_mean(grey.reshape(seen.shape), FINE) for grey in (one, other)]
    one, other = ((grey - _mean(grey * seen, COARSE) / share).reshape(inside.shape) for grey in fine)
    return _correlation(one, other, inside)


def _mean(pictures: Any, side: int) -> Any:
    """Return the mean of the ``side``² pixels around each pixel of pictures (n, side, side)."""
    count = pictures.shape[1]
    near = np.abs(np.subtract.outer(np.arange(count), np.arange(count))) <= side // 2
    weights = (near / near.sum(1, keepdims=True)).astype(np.float32)
    return weights @ pictures @ weights.T


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
