"""Means and agreement with bootstrap intervals over items, from the numbers of items of each kind.

Items of one kind have equal votes. There are few kinds, so a million ratings cost no more than a thousand.

Krippendorff's alpha of two verdicts, from the numbers of verdicts of each item (Krippendorff 2011, nominal data).

Chance-corrected agreement: 1 is full agreement, 0 is that of chance. Items may have different numbers of raters, and raters may
rate different items. Not here: other coefficients, more than two values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from components.metrics.bootstrap import interval_of, resample_counts


def krippendorff_alpha(
    good: NDArray[np.int64], raters: NDArray[np.int64], weights: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Return alpha; NaN where it is not defined: all verdicts equal, or no item with two.

    Args:
        good: of each kind of item, how many of its raters chose the first verdict.
        raters: of each kind, how many rated it. An item with one rater has no pair, and does not count.
        weights: how many items of each kind there are; with a first axis (samples × kinds) the result has one value a sample.

    Returns:
        An array without axes, or of the samples.
    """
    items = np.ones(len(good), dtype=np.int64) if weights is None else np.asarray(weights)
    paired = raters > 1
    first, second = np.where(paired, good, 0), np.where(paired, raters - good, 0)
    firsts, seconds = items @ first.astype(np.float64), items @ second.astype(np.float64)
    # Of each item: the pairs of unequal verdicts, over the raters that each verdict is compared with.
    unequal = items @ (first * second / np.maximum(raters - 1, 1))
    expected = firsts * seconds
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha: NDArray[np.float64] = np.asarray(np.where(expected > 0, 1 - (firsts + seconds - 1) * unequal / expected, np.nan))
    return alpha


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
