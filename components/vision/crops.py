"""Images for speech–image retrieval: cropped or padded, distorted, resized to side × side (CSC §4.1).

"Each image is randomly cropped or padded such that at least 67% of the area of the original image is covered, and re-scaled if
necessary"; in evaluation "we crop/pad the central portion". Choices where the paper leaves details open:

- *Shape*: a square window, which preserves proportions in training and evaluation.
- *Crop or pad*: the covered share of the image is drawn uniformly from 67 to 100 %; the window is padded where it exceeds the
  image. A square image is always cropped, one of 3 : 1 always padded, one of 4 : 3 cropped at shares up to 75 % and padded
  above.
- *Position*: uniform, of the padding too. *Padding*: white, as behind transparent images.
- *Distortion*: brightness by up to 32 of 255 and saturation (HSV) by a factor of .5 to 1.5, in random order, as TF-slim's
  preprocessing for Inception does in its fast mode; the paper gives no strengths.
- *Central portion*: the central square of the shorter side. ``whole`` pads to the longer side instead, to compare cropped and
  uncropped (in CSC table 3 cropping lowers recall).

All draws come from the given ``random.Random``. Images are not mirrored, since they may contain text.
"""

from __future__ import annotations

from random import Random
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image as images
from PIL.Image import Image, Resampling

LEAST_AREA = 0.67
BRIGHTNESS = 32.0
"""Maximum change of brightness, of 255."""
SATURATION = (0.5, 1.5)
Framing = Literal["centre", "whole"]


class Window(NamedTuple):
    """A square over an image, in its pixels; it may exceed the image."""

    left: float
    top: float
    side: float

    def covered(self, width: int, height: int) -> float:
        """Return the share of an image's area inside the window."""
        left, top, right, bottom = self.inside(width, height)
        return (right - left) * (bottom - top) / (width * height)

    def inside(self, width: int, height: int) -> tuple[float, float, float, float]:
        """Return the intersection with an image: left, top, right, bottom."""
        right, bottom = min(float(width), self.left + self.side), min(float(height), self.top + self.side)
        return max(0.0, self.left), max(0.0, self.top), right, bottom


def training_window(width: int, height: int, source: Random, least: float = LEAST_AREA) -> Window:
    """Return a random window that covers at least the share ``least`` (0..1) of an image."""
    share = source.uniform(least, 1.0)
    # A square up to the shorter side covers its own area; a longer one covers the whole shorter side.
    area = share * width * height
    side = area**0.5 if area <= min(width, height) ** 2 else share * max(width, height)
    return Window(source.uniform(0.0, width - side), source.uniform(0.0, height - side), side)


def evaluation_window(width: int, height: int, framing: Framing = "centre") -> Window:
    """Return the central square, or the smallest square that contains the whole image."""
    side = float(min(width, height) if framing == "centre" else max(width, height))
    return Window((width - side) / 2, (height - side) / 2, side)


def crop_window(image: Image, window: Window, side: int) -> Image:
    """Return an RGB image's part in the window, side × side, white outside the image."""
    box, scale = window.inside(*image.size), side / window.side
    left, right = _pixel_range(box[0] - window.left, box[2] - window.left, scale, side)
    top, bottom = _pixel_range(box[1] - window.top, box[3] - window.top, scale, side)
    part = image.resize((right - left, bottom - top), Resampling.BICUBIC, box=box, reducing_gap=2.0)
    if part.size == (side, side):
        return part
    canvas = images.new("RGB", (side, side), "white")
    canvas.paste(part, (left, top))
    return canvas


def distort(pixels: NDArray[np.uint8], source: Random) -> NDArray[np.uint8]:
    """Return pixels (… × 3, RGB) with randomly changed brightness and saturation."""
    brightness, saturation = source.uniform(-BRIGHTNESS, BRIGHTNESS), source.uniform(*SATURATION)
    brightness_first = source.random() < 0.5
    values = pixels.astype(np.float32)
    if brightness_first:
        values = np.clip(values + brightness, 0.0, 255.0)
    values = _saturated(values, saturation)
    if not brightness_first:
        values = np.clip(values + brightness, 0.0, 255.0)
    return np.rint(values).astype(np.uint8)


def training_view(image: Image, side: int, source: Random, least: float = LEAST_AREA) -> NDArray[np.uint8]:
    """Return a training view of an RGB image: a random window, distorted: side × side × 3."""
    window = training_window(*image.size, source, least)
    return distort(np.asarray(crop_window(image, window, side)), source)


def evaluation_view(image: Image, side: int, framing: Framing = "centre") -> NDArray[np.uint8]:
    """Return an evaluation view of an RGB image: the central square, or the padded whole, undistorted: side × side × 3."""
    return np.asarray(crop_window(image, evaluation_window(*image.size, framing), side))


def _saturated(pixels: NDArray[np.float32], factor: float) -> NDArray[np.float32]:
    """Return pixels with saturation (HSV) times ``factor``, at most 1; hue and value are unchanged."""
    value = pixels.max(-1, keepdims=True)
    spread = value - pixels.min(-1, keepdims=True)
    # Saturation is spread / value: a factor above value / spread would take a channel below 0.
    reach = np.divide(value, spread, out=np.full_like(value, factor), where=spread > 0)
    saturated: NDArray[np.float32] = value - (value - pixels) * np.minimum(factor, reach)
    return saturated


def _pixel_range(begin: float, end: float, scale: float, side: int) -> tuple[int, int]:
    """Return the range of a window's stretch in ``side`` pixels, at least one pixel."""
    first = min(round(begin * scale), side - 1)
    return first, max(first + 1, min(round(end * scale), side))
