"""Logistic regression over named features: fitted by Newton's method in numpy, stored as a small file of weights.

Equal examples in equal order give equal weights: one thread, no random start, weights rounded to three decimals.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

Features = Mapping[str, float]
STEPS = 25
"""Steps of Newton's method, at most; ten suffice."""
_SMALL = 1e-6


def choose_features(examples: Sequence[Features], least: int) -> list[str]:
    """Return in order of name the features that at least so many examples have."""
    counts = Counter(name for example in examples for name, value in example.items() if value)
    return sorted(name for name, count in counts.items() if count >= least)


def to_matrix(examples: Sequence[Features], names: Sequence[str]) -> np.ndarray:
    """Return examples × features, with a last column of ones for the intercept."""
    columns = {name: at for at, name in enumerate(names)}
    matrix = np.zeros((len(examples), len(names) + 1))
    for row, example in zip(matrix, examples, strict=True):
        for name, value in example.items():
            if (at := columns.get(name)) is not None:
                row[at] = value
    matrix[:, -1] = 1.0
    return matrix


def fit(
    matrix: np.ndarray, positive: np.ndarray, importance: np.ndarray, penalty: float, start: np.ndarray | None = None
) -> np.ndarray:
    """Return the weights that make the examples likeliest under a Gaussian prior; the intercept (last) has none.

    Args:
        matrix: examples × features.
        positive: 0 or 1 for each example.
        importance: the weight of each example in the likelihood.
        penalty: half of it times the squared weights is subtracted from the log-likelihood.
        start: weights of similar examples, which save steps; None for zeros.
    """
    weights = np.zeros(matrix.shape[1]) if start is None else start
    ridge = np.full(len(weights), penalty)
    ridge[-1] = _SMALL
    for _ in range(STEPS):
        likely = probabilities(matrix @ weights)
        gradient = matrix.T @ (importance * (positive - likely)) - ridge * weights
        curvature = importance * likely * (1 - likely)
        step = np.linalg.solve((matrix * curvature[:, None]).T @ matrix + np.diag(ridge), gradient)
        weights = weights + step
        if np.abs(step).max() < _SMALL:
            break
    return weights


def probabilities(scores: np.ndarray) -> np.ndarray:
    """Return the probability of each score, as :func:`probability` does."""
    return np.asarray(1 / (1 + np.exp(-np.clip(scores, -30, 30))))


def probability(score: float) -> float:
    """Return the probability of a score, the sum of weighted features and the intercept."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))
