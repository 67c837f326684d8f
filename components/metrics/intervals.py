"""Percentile bootstrap intervals of many means over the same items, with common resamples.

Two intervals of one call can therefore be compared, and the interval of a difference is that of a column of differences. Items
are resampled with the models fixed: an interval does not include the variation between seeds, which is reported separately.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95


def bootstrap_intervals(
    columns: Mapping[str, Sequence[float] | NDArray[np.float64]], *, seed: int, resamples: int
) -> dict[str, tuple[float, float]]:
    """Return the 95 % interval of the mean of each column by name; columns have one value an item."""
    if not columns:
        return {}
    values = np.array(list(columns.values()), dtype=np.float64).T
    items = len(values)
    source = np.random.Generator(np.random.PCG64(seed))
    means = np.empty((resamples, values.shape[1]))
    for number in range(resamples):
        drawn = np.bincount(source.integers(0, items, items), minlength=items)
        means[number] = drawn @ values / items
    means.sort(axis=0)
    tail = (1 - LEVEL) / 2
    low, high = means[int(tail * (resamples - 1))], means[math.ceil((1 - tail) * (resamples - 1))]
    return {name: (float(low[index]), float(high[index])) for index, name in enumerate(columns)}
