"""Krippendorff's alpha of two verdicts, from the numbers of verdicts of each item (Krippendorff 2011, nominal data).

Chance-corrected agreement: 1 is full agreement, 0 is that of chance. Items may have different numbers of raters, and raters may
rate different items. Not here: other coefficients, more than two values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
