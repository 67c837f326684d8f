"""Pictures for speech–image retrieval: cropped or padded, distorted, brought to side × side (CSC, section 4.1).

"Each image is randomly cropped or padded such that at least 67% of the area of the original image is covered, and re-scaled if
necessary"; in evaluation "we crop/pad the central portion". The paper leaves open, and here is chosen:

- *The shape*: a square window, so nothing is squeezed. Training and evaluation then see things in the same proportions.
- *Crop or pad*: the share of the picture that the window covers is drawn uniformly from 67 to 100 %; what the window does not
  reach is cut, and where it reaches beyond the picture there is padding. So a square picture is always cropped, one of 3 : 1
  always padded, one of 4 : 3 is cropped at shares up to 75 % and padded above.
- *Where*: uniformly, the padding on both sides too. *What padding is*: white, as behind transparent pictures.
- *Distortion*: brightness by up to 32 of 255 and saturation (of HSV) by a factor of .5 to 1.5, in either order. TF-slim's
  preprocessing for Inception does just these two in its fast mode; the paper says how strong nowhere.
- *The central portion*: the central square, of the shorter side. ``whole`` pads to the longer side instead, for a comparison of
  cropped and uncropped (the paper's table 3 finds that cropping costs much).

All draws come from the ``random.Random`` given. Never mirrored: a picture may hold letters. Opening is ``pictures.open_picture``.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL.Image import Image

LEAST_AREA = 0.67
BRIGHTNESS = 32.0
"""Of 255, added or taken off at most."""
SATURATION = (0.5, 1.5)
Framing = Literal["centre", "whole"]


class Window(NamedTuple):
    """A square over a picture, in its pixels; it may reach beyond."""

    left: float
    top: float
    side: float

    def covered(self, width: int, height: int) -> float:
        """Return the share of a picture's area that lies inside."""
        left, top, right, bottom = self.inside(width, height)
        return (right - left) * (bottom - top) / (width * height)

    def inside(self, width: int, height: int) -> tuple[float, float, float, float]:
        """Return what the window shows of a picture: left, top, right, bottom."""
        right, bottom = min(float(width), self.left + self.side), min(float(height), self.top + self.side)
        return max(0.0, self.left), max(0.0, self.top), right, bottom


def training_window(width: int, height: int, source: Random, least: float = LEAST_AREA) -> Window:
    """Return a random window that covers at least ``least`` (0..1) of a picture of that size, at most all of it."""
    share = source.uniform(least, 1.0)
    # A square no longer than the shorter side covers its own area, a longer one the whole of the shorter side.
    area = share * width * height
    side = area**0.5 if area <= min(width, height) ** 2 else share * max(width, height)
    return Window(source.uniform(0.0, width - side), source.uniform(0.0, height - side), side)


def evaluation_window(width: int, height: int, framing: Framing = "centre") -> Window:
    """Return the central square, or the smallest square that holds all."""
    side = float(min(width, height) if framing == "centre" else max(width, height))
    return Window((width - side) / 2, (height - side) / 2, side)


def cut(picture: Image, window: Window, side: int) -> Image:
    """Return what a window shows of an RGB picture, side × side, white where it reaches beyond."""
    from PIL import Image as images
    from PIL.Image import Resampling

    box, scale = window.inside(*picture.size), side / window.side
    left, right = _places(box[0] - window.left, box[2] - window.left, scale, side)
    top, bottom = _places(box[1] - window.top, box[3] - window.top, scale, side)
    part = picture.resize((right - left, bottom - top), Resampling.BICUBIC, box=box, reducing_gap=2.0)
    if part.size == (side, side):
        return part
    canvas = images.new("RGB", (side, side), "white")
    canvas.paste(part, (left, top))
    return canvas


def distorted(pixels: NDArray[np.uint8], source: Random) -> NDArray[np.uint8]:
    """Pixels (… × 3, RGB) of another brightness and saturation."""
    brightness, saturation = source.uniform(-BRIGHTNESS, BRIGHTNESS), source.uniform(*SATURATION)
    brightness_first = source.random() < 0.5
    found = pixels.astype(np.float32)
    if brightness_first:
        found = np.clip(found + brightness, 0.0, 255.0)
    found = _saturated(found, saturation)
    if not brightness_first:
        found = np.clip(found + brightness, 0.0, 255.0)
    return np.rint(found).astype(np.uint8)


def training_view(picture: Image, side: int, source: Random, least: float = LEAST_AREA) -> NDArray[np.uint8]:
    """Return an RGB picture as it is trained on: a random window, distorted: side × side × 3."""
    window = training_window(*picture.size, source, least)
    return distorted(np.asarray(cut(picture, window, side)), source)


def evaluation_view(picture: Image, side: int, framing: Framing = "centre") -> NDArray[np.uint8]:
    """Return an RGB picture as it is judged: its central square, or all of it padded, undistorted: side × side × 3."""
    return np.asarray(cut(picture, evaluation_window(*picture.size, framing), side))


def _saturated(pixels: NDArray[np.float32], factor: float) -> NDArray[np.float32]:
    """Saturation (HSV) times ``factor``, at most 1; hue and value stay."""
    value = pixels.max(-1, keepdims=True)
    spread = value - pixels.min(-1, keepdims=True)
    # Saturation is spread / value: a factor above value / spread would take a channel below 0.
    reach = np.divide(value, spread, out=np.full_like(value, factor), where=spread > 0)
    found: NDArray[np.float32] = value - (value - pixels) * np.minimum(factor, reach)
    return found


def _places(begin: float, end: float, scale: float, side: int) -> tuple[int, int]:
    """Return where a stretch of a window lies among ``side`` pixels: one of them at least."""
    first = min(round(begin * scale), side - 1)
    return first, max(first + 1, min(round(end * scale), side))
