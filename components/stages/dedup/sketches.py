"""Whether two pictures show the same thing once one is laid upon the other: turned, mirrored, cropped, or a little askew.

A picture's sketch is 64 × 64 grey levels of the whole of it, squeezed to a square. The correlation of two sketches is the
greatest over eight turns and mirrorings of one, over the places and sizes (80 to 100 % of either side) at which it may have been
cut out of the other, and over turns of 4 and 7 degrees: normalised cross-correlation at 32 × 32. Brightness and contrast do not
count.
Everything is the same whichever picture comes first.
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SKETCH = 64
SIDE = 32
"""Pixels a side at which sketches are compared."""
SMALL = 12
"""Pixels a side of the miniature that finds candidates for turned pictures."""
CUTS = (32, 30, 29, 27, 26)
"""Sides in px of what may have been cut out: 100, 95, 90, 85 and 80 % of the picture's."""
ANGLES = (-7.0, -4.0, 4.0, 7.0)
"""Degrees by which the middle of a picture is turned back."""
FLAT = 1e-3
"""Below this length a patch is taken for one even tone, which resembles nothing."""


class Parts(NamedTuple):
    """What a batch of sketches is compared by; the first axis is the picture."""

    windows: list[NDArray[np.float32]]
    """For each of CUTS every place: (n, places, side²), each of mean 0 and length 1."""
    templates: list[NDArray[np.float32]]
    """For each of CUTS the whole picture in eight turns and mirrorings: (n, 8, side²); the last with the angles besides."""


def sketch(data: bytes) -> NDArray[np.uint8]:
    """A picture's sketch, (64, 64); transparent is white. Raises OSError for what cannot be decoded."""
    import numpy as np
    from PIL import Image

    with Image.open(io.BytesIO(data)) as opened:
        opened.draft(None, (4 * SKETCH, 4 * SKETCH))
        picture = opened.convert("RGBA") if "A" in opened.getbands() or "transparency" in opened.info else opened.convert("RGB")
    if picture.mode == "RGBA":
        ground = Image.new("RGBA", picture.size, "white")
        ground.alpha_composite(picture)
        picture = ground.convert("RGB")
    return np.asarray(picture.convert("L").resize((SKETCH, SKETCH), Image.Resampling.BICUBIC))


def parts(sketches: NDArray[np.uint8]) -> Parts:
    """What ``sketches`` (n, 64, 64) are compared by; some 0.4 MB a picture."""
    import numpy as np
    from numpy.lib.stride_tricks import sliding_window_view

    grey = sketches.astype(np.float32)
    whole = _resized(grey, SIDE)
    windows, templates = [], []
    for side in CUTS:
        places = sliding_window_view(whole, (side, side), axis=(1, 2))
        windows.append(_unit(places.reshape(len(grey), (SIDE - side + 1) ** 2, side * side)))
        templates.append(_unit(turned(_resized(grey, side))))
    askew = np.einsum("apq,nq->nap", _turnings(), whole.reshape(len(grey), SIDE * SIDE), optimize=True)
    templates[-1] = np.concatenate([templates[-1], _unit(askew)], axis=1)
    return Parts(windows, templates)


def turned(pictures: NDArray[np.float32]) -> NDArray[np.float32]:
    """(n, side, side) in the eight symmetries of a square: (n, 8, side²)."""
    import numpy as np

    turns = [np.rot90(pictures, quarter, axes=(1, 2)) for quarter in range(4)]
    both = [side for turn in turns for side in (turn, turn[:, :, ::-1])]
    return np.stack([view.reshape(len(pictures), pictures.shape[1] ** 2) for view in both], axis=1)


def miniatures(sketches: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(n, 8, 144): the sketches at 12 × 12 in their eight symmetries, each of mean 0 and length 1; the first is upright."""
    import numpy as np

    return _unit(turned(_resized(sketches.astype(np.float32), SMALL)))


def correlation(one: Parts, i: int, other: Parts, j: int) -> tuple[float, float]:
    """Of picture i of ``one`` and j of ``other``: the correlation whole upon whole, and the greatest of all."""
    whole = best = float((one.windows[0][i] @ other.templates[0][j].T).max())
    for cut in range(len(CUTS)):
        best = max(
            best,
            float((one.windows[cut][i] @ other.templates[cut][j].T).max()),
            float((other.windows[cut][j] @ one.templates[cut][i].T).max()),
        )
    return whole, best


def _unit(patches: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    centred = patches - patches.mean(-1, keepdims=True)
    lengths = np.sqrt(np.einsum("...i,...i->...", centred, centred))
    centred *= np.where(lengths > FLAT, 1 / np.maximum(lengths, FLAT), 0)[..., None]
    return centred


def _resized(grey: NDArray[np.float32], side: int) -> NDArray[np.float32]:
    weights = _weights(side, grey.shape[1])
    return weights @ grey @ weights.T


@lru_cache(maxsize=16)
def _weights(side: int, of: int) -> Any:
    """Bicubic resizing of ``of`` pixels to ``side`` as a matrix."""
    import numpy as np
    from PIL import Image

    return np.asarray(Image.fromarray(np.eye(of, dtype=np.float32)).resize((of, side), Image.Resampling.BICUBIC))


@lru_cache(maxsize=1)
def _turnings() -> Any:
    """For each of ANGLES the matrix (26², 32²) that reads the middle of a picture turned back by it, bilinearly."""
    import numpy as np

    side = CUTS[-1]
    middle = (SIDE - 1) / 2
    y, x = np.mgrid[:side, :side].reshape(2, -1) - (side - 1) / 2
    found = np.zeros((len(ANGLES), side * side, SIDE * SIDE), np.float32)
    for turning, angle in zip(found, np.radians(ANGLES), strict=True):
        down = np.clip(y * np.cos(angle) - x * np.sin(angle) + middle, 0, SIDE - 1.001)
        across = np.clip(y * np.sin(angle) + x * np.cos(angle) + middle, 0, SIDE - 1.001)
        top, left = down.astype(int), across.astype(int)
        for dy in (0, 1):
            for dx in (0, 1):
                share = np.abs(1 - dy - (down - top)) * np.abs(1 - dx - (across - left))
                turning[np.arange(side * side), (top + dy) * SIDE + left + dx] += share
    return found
