"""Weights under which the run of segments that describes is the likeliest of all runs of its text (``train_segments``).

A run's score is the sum of its segments' log odds, less the price of a later start, as in ``best_run``; the empty run's is 0. The
likelihood of the labelled run is the softmax over all runs of its text: a linear chain with one interval of positives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

_ROUNDS = 100
"""Steps of the optimiser, at most."""


class Text(NamedTuple):
    """A text: how many segments it has, the first and the last that describe (None: none does), and its importance."""

    segments: int
    run: tuple[int, int] | None
    importance: float


def fit_runs(matrix: np.ndarray | csr_matrix, texts: Sequence[Text], penalty: float, start: float) -> np.ndarray:
    """Return the weights that make the labelled runs likeliest under a Gaussian prior.

    Args:
        matrix: segments × features, the intercept last, texts in order.
        penalty: half of it times the squared weights is subtracted from the log-likelihood.
        start: what a run loses by not beginning at the first segment.
    """
    groups = _by_length(texts)
    ridge = np.full(matrix.shape[1], penalty)
    ridge[-1] = 0.0

    def loss(now: np.ndarray) -> tuple[float, np.ndarray]:
        odds = matrix @ now
        total, slope = 0.0, np.zeros(len(odds))
        for rows, wanted, labelled, importance in groups:
            value, change = _surprise(odds[rows], wanted, labelled, start)
            total += float(importance @ value)
            slope[rows] = importance[:, None] * change
        return total + 0.5 * float(ridge @ now**2), matrix.T @ slope + ridge * now

    return np.asarray(minimize(loss, np.zeros(len(ridge)), jac=True, method="L-BFGS-B", options={"maxiter": _ROUNDS}).x)


_Group = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _by_length(texts: Sequence[Text]) -> list[_Group]:
    """Return for each length the texts' rows, texts × segments, 1 where a segment describes, the run or -1, and importance."""
    groups = defaultdict(list)
    at = 0
    for text in texts:
        groups[text.segments].append((at, text))
        at += text.segments
    found = []
    for length, members in sorted(groups.items()):
        rows = np.array([begin for begin, _ in members])[:, None] + np.arange(length)
        runs = np.array([text.run or (-1, -1) for _, text in members])
        places = np.arange(length)
        wanted = ((places >= runs[:, :1]) & (places <= runs[:, 1:])).astype(float)
        found.append((rows, wanted, runs, np.array([text.importance for _, text in members])))
    return found


def _surprise(odds: np.ndarray, wanted: np.ndarray, runs: np.ndarray, start: float) -> tuple[np.ndarray, np.ndarray]:
    """Return minus the log-likelihood of each text's run and its slope by segment, texts × segments."""
    length = odds.shape[1]
    sums = np.concatenate([np.zeros((len(odds), 1)), odds.cumsum(axis=1)], axis=1)
    scores = sums[:, None, 1:] - sums[:, :-1, None] - start * (np.arange(length) > 0)[:, None]
    scores = np.where(np.triu(np.ones((length, length), dtype=bool)), scores, -np.inf)
    highest = np.maximum(scores.max(axis=(1, 2)), 0)
    shares = np.exp(scores - highest[:, None, None])
    whole = shares.sum(axis=(1, 2)) + np.exp(-highest)
    shares /= whole[:, None, None]
    begun = shares.cumsum(axis=1)
    covered = np.flip(np.flip(begun, axis=2).cumsum(axis=2), axis=2)
    expected = np.diagonal(covered, axis1=1, axis2=2)
    labelled = np.where(runs[:, 0] < 0, 0.0, scores[np.arange(len(odds)), runs[:, 0], runs[:, 1]])
    return highest + np.log(whole) - labelled, expected - wanted
