"""Percentile bootstrap intervals (Efron 1979), over resampled items."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")
LEVEL = 0.95
"""Share of the resamples inside an interval."""


def bootstrap_interval(
    items: Sequence[Item], statistic: Callable[[list[Item]], float], *, seed: int, resamples: int, level: float = LEVEL
) -> tuple[float, float]:
    """Return the interval with the middle ``level`` of a statistic over resamples; (0, 0) without items or resamples.

    Args:
        items: the independent units (queries, not their repetitions), resampled with replacement to the same number.
            ``range(n)`` gives the statistic indices, into arrays or several columns. The same ``seed`` draws the same indices
            for any sequence of this length, so two statistics of one sample can be compared draw by draw.
        statistic: of the drawn items, with repeats, in the order drawn.
    """
    if not items or resamples < 1:
        return (0.0, 0.0)
    source = random.Random(seed)
    values = sorted(statistic(source.choices(items, k=len(items))) for _ in range(resamples))
    low, high = _ends(resamples, level)
    return values[low], values[high]


def bootstrap_intervals(
    columns: Mapping[str, Sequence[float] | NDArray[np.float64]], *, seed: int, resamples: int
) -> dict[str, tuple[float, float]]:
    """Return the 95 % interval of the mean of each column by name; columns have one value an item.

    All columns share the resamples, so that two intervals can be compared, and the interval of a difference is that of a column
    of differences. Models are fixed: an interval does not include the variation between seeds, which is reported separately.
    """
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
    low, high = _ends(resamples, LEVEL)
    return {name: (float(means[low, index]), float(means[high, index])) for index, name in enumerate(columns)}


def resample_counts(counts: Sequence[int] | NDArray[np.int64], *, seed: int, resamples: int) -> NDArray[np.int64]:
    """Return how often each kind of item is drawn in each resample (resamples × kinds), from the number of items of each kind.

    Items of one kind have equal values, so this draws what drawing the items one by one would, at a cost that does not grow with
    their number.
    """
    numbers = np.asarray(counts, dtype=np.int64)
    total = int(numbers.sum())
    source = np.random.Generator(np.random.PCG64(seed))
    drawn: NDArray[np.int64] = source.multinomial(total, numbers / total if total else numbers, size=resamples)
    return drawn


def interval_of(statistics: NDArray[np.float64], level: float = LEVEL) -> tuple[float, float] | None:
    """Return the interval of a statistic over resamples; None where it is undefined (NaN) in half of them or more."""
    defined = np.sort(statistics[~np.isnan(statistics)])
    if len(defined) * 2 <= len(statistics):
        return None
    low, high = _ends(len(defined), level)
    return float(defined[low]), float(defined[high])


def _ends(resamples: int, level: float) -> tuple[int, int]:
    """Return the indices of the interval's ends among the sorted statistics."""
    tail = (1 - level) / 2
    return int(tail * (resamples - 1)), math.ceil((1 - tail) * (resamples - 1))
