"""A measured value with its interval, and the paired difference of two."""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from components.reporting.numbers import rounded

K = TypeVar("K", bound=Hashable)
DIGITS = 3
"""Digits behind the point by which tables tell the best of a column."""


@dataclass(frozen=True)
class Value:
    """A mean over seeds and items."""

    mean: float
    low: float | None = None
    """The lower end of the 95 % interval over items, with the models as they are; None of a metric that is no mean over items."""
    high: float | None = None
    """Its upper end."""
    seeds: tuple[float, ...] = ()
    """The value of each seed; empty where they are not kept apart."""

    @property
    def deviation(self) -> float | None:
        """The seeds' sample standard deviation; None of fewer than two."""
        return statistics.stdev(self.seeds) if len(self.seeds) > 1 else None

    def plain(self, name: str) -> dict[str, float]:
        """Return what is known of the value as JSON, the mean under ``name``, six digits each."""
        known = {name: self.mean, "low": self.low, "high": self.high, "sd": self.deviation}
        return {key: rounded(number) for key, number in known.items() if number is not None}


@dataclass(frozen=True)
class Contrast:
    """A paired difference: of two results, or of weighted sums of several, item by item."""

    title: str
    on: str
    """What it was measured on: a test set, or a direction of retrieval."""
    difference: Value
    """Its interval is that of the items' differences."""
    first: Value | None = None
    """What it is a difference of, where that is two values."""
    second: Value | None = None

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return (self.difference.low or 0.0) > 0 or (self.difference.high or 0.0) < 0

    @property
    def agreeing(self) -> int:
        """The number of seeds whose difference has the mean's sign."""
        return sum(value * self.difference.mean > 0 for value in self.difference.seeds)


def best_of(column: Mapping[K, Value]) -> set[K]:
    """Return the rows that have the most as it is printed, all of equals; none of a single row or where the most is 0."""
    printed = {row: round(value.mean, DIGITS) for row, value in column.items()}
    most = max(printed.values(), default=0.0)
    return {row for row, value in printed.items() if value == most > 0} if len(printed) > 1 else set()
