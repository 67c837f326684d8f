"""Correlation of two pictures under alignment: turned, mirrored, cropped, or slightly rotated.

A picture's sketch is the whole picture as 64 × 64 grey levels. The correlation of two sketches is the greatest over eight turns
and mirrorings of one, over the positions and sizes (80 to 100 % of either side) at which it may be cropped from the other, and
over rotations of 4 and 7 degrees: normalised cross-correlation at 32 × 32, so brightness and contrast do not matter.
It is symmetric in the two pictures.
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from PIL import Image

SKETCH = 64
SIDE = 32
"""Side in pixels at which sketches are compared."""
SMALL = 12
"""Side in pixels of the miniature that finds candidates among turned pictures."""
CUTS = (32, 30, 29, 27, 26)
"""Sides in px of possible crops: 100, 95, 90, 85 and 80 % of the picture's."""
ANGLES = (-7.0, -4.0, 4.0, 7.0)
"""Degrees by which the centre of a picture is rotated back."""
FLAT = 1e-3
"""Length below which a patch counts as uniform, which matches nothing."""


class Parts(NamedTuple):
    """The patches by which a batch of sketches is compared; the first axis is the picture."""

    windows: list[NDArray[np.float32]]
    """For each of CUTS every position: (n, positions, side²), each of mean 0 and length 1."""
    templates: list[NDArray[np.float32]]
    """For each of CUTS the whole picture in eight turns and mirrorings: (n, 8, side²); the last also has the rotations."""


def make_sketch(data: bytes) -> NDArray[np.uint8]:
    """Return a picture's sketch, (64, 64), on white; raise OSError if it cannot be decoded."""
    with Image.open(io.BytesIO(data)) as opened:
        opened.draft(None, (4 * SKETCH, 4 * SKETCH))
        picture = opened.convert("RGBA") if "A" in opened.getbands() or "transparency" in opened.info else opened.convert("RGB")
    if picture.mode == "RGBA":
        ground = Image.new("RGBA", picture.size, "white")
        ground.alpha_composite(picture)
        picture = ground.convert("RGB")
    return np.asarray(picture.convert("L").resize((SKETCH, SKETCH), Image.Resampling.BICUBIC))


def make_parts(sketches: NDArray[np.uint8]) -> Parts:
    """Return the patches of ``sketches`` (n, 64, 64); about 0.4 MB a picture."""
    grey = sketches.astype(np.float32)
    whole = _resized(grey, SIDE)
    windows, templates = [], []
    for side in CUTS:
        positions = sliding_window_view(whole, (side, side), axis=(1, 2))
        windows.append(_unit(positions.reshape(len(grey), (SIDE - side + 1) ** 2, side * side)))
        templates.append(_unit(all_symmetries(_resized(grey, side))))
    rotated = np.einsum("apq,nq->nap", _rotations(), whole.reshape(len(grey), SIDE * SIDE), optimize=True)
    templates[-1] = np.concatenate([templates[-1], _unit(rotated)], axis=1)
    return Parts(windows, templates)


def all_symmetries(pictures: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return pictures (n, side, side) in the eight symmetries of a square: (n, 8, side²)."""
    turns = [np.rot90(pictures, quarter, axes=(1, 2)) for quarter in range(4)]
    both = [side for turn in turns for side in (turn, turn[:, :, ::-1])]
    return np.stack([view.reshape(len(pictures), pictures.shape[1] ** 2) for view in both], axis=1)


def miniatures(sketches: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return (n, 8, 144): the sketches at 12 × 12 in their eight symmetries, each of mean 0 and length 1; upright first."""
    return _unit(all_symmetries(_resized(sketches.astype(np.float32), SMALL)))


def correlation(one: Parts, i: int, other: Parts, j: int) -> tuple[float, float]:
    """Return the correlation of the whole pictures i of ``one`` and j of ``other``, and the greatest of all alignments."""
    whole = best = float((one.windows[0][i] @ other.templates[0][j].T).max())
    for cut in range(len(CUTS)):
        best = max(
            best,
            float((one.windows[cut][i] @ other.templates[cut][j].T).max()),
            float((other.windows[cut][j] @ one.templates[cut][i].T).max()),
        )
    return whole, best


def _unit(patches: NDArray[np.float32]) -> NDArray[np.float32]:
    centred = patches - patches.mean(-1, keepdims=True)
    lengths = np.sqrt(np.einsum("...i,...i->...", centred, centred))
    centred *= np.where(lengths > FLAT, 1 / np.maximum(lengths, FLAT), 0)[..., None]
    return centred


def _resized(grey: NDArray[np.float32], side: int) -> NDArray[np.float32]:
    weights = _weights(side, grey.shape[1])
    return weights @ grey @ weights.T


@lru_cache(maxsize=16)
def _weights(side: int, of: int) -> Any:
    """Return the matrix of a bicubic resize from ``of`` to ``side`` pixels."""
    return np.asarray(Image.fromarray(np.eye(of, dtype=np.float32)).resize((of, side), Image.Resampling.BICUBIC))


@lru_cache(maxsize=1)
def _rotations() -> Any:
    """Return for each of ANGLES the matrix (26², 32²) that reads the centre of a picture rotated back by it, bilinearly."""
    side = CUTS[-1]
    middle = (SIDE - 1) / 2
    y, x = np.mgrid[:side, :side].reshape(2, -1) - (side - 1) / 2
    matrices = np.zeros((len(ANGLES), side * side, SIDE * SIDE), np.float32)
    for matrix, angle in zip(matrices, np.radians(ANGLES), strict=True):
        down = np.clip(y * np.cos(angle) - x * np.sin(angle) + middle, 0, SIDE - 1.001)
        across = np.clip(y * np.sin(angle) + x * np.cos(angle) + middle, 0, SIDE - 1.001)
        top, left = down.astype(int), across.astype(int)
        for dy in (0, 1):
            for dx in (0, 1):
                share = np.abs(1 - dy - (down - top)) * np.abs(1 - dx - (across - left))
                matrix[np.arange(side * side), (top + dy) * SIDE + left + dx] += share
    return matrices
