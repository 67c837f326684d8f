"""Percentile bootstrap intervals of many means over the same items, all with the same resamples.

So two intervals of one call may be compared, and the interval of a difference is that of a column of differences. The items are
resampled with the models held fixed: an interval says nothing of the spread between seeds, which stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEVEL = 0.95


def bootstrap_intervals(
    columns: Mapping[str, Sequence[float] | NDArray[np.float64]], *, seed: int, resamples: int
) -> dict[str, tuple[float, float]]:
    """Name → the ends of the 95 % interval of the mean of its column; the columns have one value an item."""
    import numpy as np

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
    return {name: (float(low[at]), float(high[at])) for at, name in enumerate(columns)}
