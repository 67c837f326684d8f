"""Means and agreement with bootstrap intervals over items, from the numbers of items of each kind.

Items of one kind have equal votes. There are few kinds, so a million ratings cost no more than a thousand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from components.metrics.agreement import krippendorff_alpha
from components.metrics.bootstrap import interval_of, resample_counts


@dataclass(frozen=True)
class Counting:
    """Which items count, and how intervals are drawn."""

    least: int = 0
    """Ratings from which an item counts; 0: all that its table asks for."""
    resamples: int = 1000
    seed: int = 1
    caption_raters: int = 3
    """Raters that the tables of captions show, if as many were asked."""
    pair_raters: int = 5
    """The same of the tables of retrieval results and known pairs."""


class Estimate(NamedTuple):
    """A figure with its 95 % interval over items; without one where it is undefined in most resamples."""

    mean: float
    low: float | None = None
    high: float | None = None


def mean_values(values: NDArray[np.float64], counts: NDArray[np.int64], counting: Counting) -> tuple[Estimate, ...]:
    """Return the means of columns (kinds × columns) over items; all columns share the resamples."""
    total = counts.sum()
    drawn = resample_counts(counts, seed=counting.seed, resamples=counting.resamples) @ values / total
    return tuple(_estimate(float(mean), column) for mean, column in zip(counts @ values / total, drawn.T, strict=True))


def agreement(
    good: NDArray[np.int64], answered: NDArray[np.int64], counts: NDArray[np.int64], counting: Counting
) -> Estimate | None:
    """Return Krippendorff's alpha; None where it is not defined.

    Args:
        good: of each kind of item, the verdicts that are GOOD.
        answered: of each kind, all verdicts.
        counts: how many items of each kind there are.
    """
    alpha = float(krippendorff_alpha(good, answered, counts))
    if np.isnan(alpha):
        return None
    drawn = resample_counts(counts, seed=counting.seed, resamples=counting.resamples)
    return _estimate(alpha, krippendorff_alpha(good, answered, drawn))


def _estimate(value: float, drawn: NDArray[np.float64]) -> Estimate:
    return Estimate(value, *(interval_of(drawn) or (None, None)))
