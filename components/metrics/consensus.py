"""Consensus reranking: of a network's hypotheses for an image, the one that is most like captions of similar training images.

Devlin et al. 2015 ("Exploring nearest neighbor approaches for image captioning") borrow the caption of near images that is most
like the other ones; Mao et al. 2015 (m-RNN) rank a network's hypotheses so. Here a hypothesis scores its log-probability a word
+ weight × consensus. The consensus is its mean CIDEr-D with the most similar captions of the nearest images. Nearest are the
training images whose feature vectors, less their mean, have the largest cosines; ties go to the earlier image, and the cosines
are exact (:mod:`components.metrics.similarity`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from components.metrics.cider import CiderD, DocumentFrequency
from components.metrics.ngrams import Floats, Tokens
from components.metrics.similarity import exact_scores, split_vectors

WEIGHTS = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Weights of the consensus that :func:`choose_weight` tries."""
IMAGES = 64
"""Images whose neighbours' captions are counted together: temporaries of some 100 MB."""


def nearest_images(features: NDArray[np.floating], images: NDArray[np.floating], neighbours: int) -> NDArray[np.int64]:
    """Return the nearest of the training images' vectors (m × F) to each of n × F vectors, nearest first, n × ``neighbours``.

    All of them, if there are fewer. The training images' mean is taken off first: activations are positive, so that all cosines
    are large and say more about the mean than about the image (docs/results.md).
    """
    vectors = np.asarray(images, np.float64)
    mean = vectors.mean(0)
    scores = exact_scores(split_vectors(_unit(features - mean)), split_vectors(_unit(vectors - mean)))
    return np.argsort(-scores, axis=1, kind="stable")[:, :neighbours]


class NeighbourCaptions:
    """The captions of training images.

    Args:
        captions: the tokenised captions of each image, at least one. Document frequencies are theirs, an image's together.
        most: captions of an image's neighbours that count for a hypothesis, the most similar ones.
    """

    def __init__(self, captions: Sequence[Sequence[Tokens]], most: int) -> None:
        self.captions, self.most = captions, most
        self.frequency = DocumentFrequency.of(captions)

    def consensus(self, nearest: Sequence[Sequence[int]], hypotheses: Sequence[Sequence[Tokens]]) -> list[Floats]:
        """Return the consensus, 0 to 10, of each of an image's tokenised hypotheses.

        Args:
            nearest: the training images nearest to each image (:func:`nearest_images`).
            hypotheses: at least one of each image.
        """
        result: list[Floats] = []
        for first in range(0, len(hypotheses), IMAGES):
            part = hypotheses[first : first + IMAGES]
            near = nearest[first : first + IMAGES]
            form = CiderD([[caption for image in row for caption in self.captions[image]] for row in near], self.frequency)
            counts = [len(known) for known in part]
            owners = np.repeat(np.arange(len(part)), counts)
            scores: list[float] = []
            for match in form.table.matches([tokens for known in part for tokens in known], owners):
                similar = np.split(form.score_slots(match), match.bounds[1:-1])
                scores += [float(np.sort(one)[-self.most :].mean()) for one in similar]
            result += np.split(np.array(scores), np.cumsum(counts)[:-1])
        return result


def choose(
    log_probabilities: Sequence[Sequence[float]], consensus: Sequence[Sequence[float] | Floats], weight: float
) -> list[int]:
    """Return the index of each image's best hypothesis, of equal ones the first.

    Args:
        log_probabilities: of each hypothesis, a word.
        consensus: of each hypothesis.
    """
    pairs = zip(log_probabilities, consensus, strict=True)
    return [int(np.argmax(np.asarray(scores) + weight * np.asarray(agreed))) for scores, agreed in pairs]


def choose_weight(
    hypotheses: Sequence[Sequence[Tokens]],
    log_probabilities: Sequence[Sequence[float]],
    consensus: Sequence[Sequence[float] | Floats],
    references: Sequence[Sequence[Tokens]],
) -> float:
    """Return the weight of :data:`WEIGHTS` whose choices have the highest mean CIDEr-D (ties: the smallest)."""
    form = CiderD(references)

    def score(weight: float) -> float:
        chosen = choose(log_probabilities, consensus, weight)
        return math.fsum(form.score([known[index] for known, index in zip(hypotheses, chosen, strict=True)]))

    return max(WEIGHTS, key=score)


def _unit(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return vectors of length 1; zeros stay."""
    values = np.asarray(vectors, dtype=np.float64)
    return values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), np.finfo(np.float64).tiny)
