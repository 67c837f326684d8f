"""Support of a caption: how much of what it says is in the captions of similar images; and whether any image is similar.

The support of a caption by one image is the share of its distinct words that are in that image's captions. Each word counts
by its inverse document frequency, so "of" counts little. The support by several images is the mean.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.core.stage_output import StageOutput
from components.core.view_arrays import SUFFIX, PackedViews
from components.vision.trained_encoders import MeanVectors

NEAREST = 5
"""Similar images that a caption is compared with."""
UNLIKE = 0.1
"""An image is unlike the training images if its mean similarity to the nearest is below this quantile of theirs. Ours: of 30
photographs 20 are then unlike 140 drawings and screenshots, and none of 35 further drawings and screenshots is."""
SAMPLE = 500
"""Training images whose similarities to the others give the quantile."""
MOST = 5_000
"""Training images that are kept in memory; of a larger set evenly spaced ones."""


class WordWeights:
    """Weights of words by how many captioned images mention them."""

    def __init__(self, images: Iterable[Collection[str]]) -> None:
        words = [set(each) for each in images]
        self._count, self._frequency = len(words), Counter(word for each in words for word in each)

    def support(self, caption: Collection[str], images: Sequence[Collection[str]]) -> float:
        """Return the support, 0..1, of a caption's words by the words of images' captions; 0 without either."""
        weights = {word: math.log((self._count + 1) / (self._frequency[word] + 1)) for word in set(caption)}
        total = sum(weights.values())
        if not total or not images:
            return 0.0
        return sum(weight for each in images for word, weight in weights.items() if word in each) / (total * len(images))


class TrainingImages:
    """The training images of a captioner: their mean feature vectors, and the words of their captions.

    Args:
        output: the ``extract_features`` output it was trained on, of a frozen encoder.
        encoder: that encoder, as in the captioner's ``config.json``.
    """

    def __init__(self, output: StageOutput, encoder: Mapping[str, Any], most: int = MOST) -> None:
        self.mean = MeanVectors(encoder)
        table = output.table(["key", "split", "group", "words", "image_sha256", "media"])
        rows = sorted(table.filter(pc.equal(table["split"], "train")).to_pylist(), key=lambda row: str(row["key"]))
        words: dict[str, set[str]] = {}
        for row in rows:
            words.setdefault(row["group"], set()).update(row["words"])
        images = list({row["image_sha256"]: row for row in reversed(rows)}.values())
        images = images[:: max(1, math.ceil(len(images) / most))]
        self.words = [words[row["group"]] for row in images]
        self.weights = WordWeights(self.words)
        vectors = [self.mean(_vectors(output, row["media"], first=not self.mean.reads_cells)) for row in images]
        self._vectors = _unit(np.stack(vectors)) if vectors else np.zeros((0, 1), np.float32)
        self._least = self._least_similarity()

    def __len__(self) -> int:
        return len(self.words)

    def _least_similarity(self) -> float:
        """Return the similarity below which an image is unlike these; -1, the lowest, if they are too few to say."""
        if len(self) <= NEAREST:
            return -1.0
        scores = self._vectors[:: math.ceil(len(self) / SAMPLE)] @ self._vectors.T
        others = np.sort(scores, axis=1)[:, -NEAREST - 1 : -1]  # the nearest of all is the image itself
        return float(np.quantile(others.mean(axis=1), UNLIKE))

    def is_like(self, vector: NDArray[np.floating]) -> bool:
        """Return whether the image with this mean vector resembles the training images, by its nearest."""
        scores = self._vectors @ _unit(vector[None])[0]
        return not len(self) or float(np.sort(scores)[-NEAREST:].mean()) >= self._least

    def support(self, caption: Collection[str], vector: NDArray[np.floating]) -> float:
        """Return the support of a caption's words by the images most similar to the one with this mean vector."""
        if not len(self):
            return 0.0
        scores = self._vectors @ _unit(vector[None])[0]
        nearest = np.argsort(-scores, kind="stable")[:NEAREST]
        return self.weights.support(caption, [self.words[place] for place in nearest])


def _vectors(output: StageOutput, name: str, *, first: bool) -> NDArray[np.float16]:
    """Return the first vector of an image's undistorted view, or the others."""
    data = output.read_media(name)
    if name.endswith(SUFFIX):
        packed = PackedViews(data)
        return packed.first(0) if first else packed.rest(0)
    views: NDArray[np.float16] = np.load(io.BytesIO(data), allow_pickle=False)
    return views[0, :1] if first else views[0, 1:]


def _unit(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    whole = vectors.astype(np.float32)
    unit: NDArray[np.float32] = whole / np.maximum(np.linalg.norm(whole, axis=1, keepdims=True), 1e-12)
    return unit
