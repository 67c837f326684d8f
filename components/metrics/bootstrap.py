"""The percentile bootstrap interval of a statistic (Efron 1979)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def bootstrap_interval(
    items: Sequence[Item], statistic: Callable[[list[Item]], float], *, seed: int, resamples: int, level: float = 0.95
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
    tail = (1 - level) / 2
    return values[int(tail * (resamples - 1))], values[math.ceil((1 - tail) * (resamples - 1))]
