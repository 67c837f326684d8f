"""Measured values with intervals, paired differences, and their formats."""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

ABSENT = "–"
"""Text of an unknown figure."""


def count(number: float) -> str:
    """Format an integer with commas: 1,234."""
    return f"{number:,.0f}"


def decimal(value: float, digits: int = 3, *, plus: bool = False) -> str:
    """Format a number with a minus sign (U+2212) and no sign for 0; ``plus`` adds a plus sign."""
    text = f"{value:{'+' if plus else ''}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text.replace("-", "−")


def percent(share: float, *, small: bool = False) -> str:
    """Format a share as a percentage with one decimal: 37.2 %.

    Args:
        share: 0 to 1.
        small: whether to use two significant digits below 1 % (0.16 %), and "< 0.01 %" below 0.01 %.
    """
    value = 100 * share
    if not small or value == 0 or value >= 1:
        return f"{value:.1f} %"
    return f"{value:.2g} %" if value >= 0.01 else "< 0.01 %"


def ratio(part: float, whole: float, *, small: bool = False) -> str:
    """Format a ratio as :func:`percent` does; a dash if ``whole`` is 0."""
    return percent(part / whole, small=small) if whole else ABSENT


def percent_interval(low: float, high: float) -> str:
    """Format an interval of a share in whole percent: 12–35 %."""
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def rounded(value: float) -> float:
    """Round to six digits, as in JSON files; -0.0 becomes 0.0."""
    return round(value, 6) + 0.0


def six_digits(value: float | None) -> str:
    """Format a number with six digits, as in CSV files; an empty string for None."""
    return "" if value is None else f"{value + 0.0:.6f}"


K = TypeVar("K", bound=Hashable)
DIGITS = 3
"""Decimal places at which tables compare values to mark the best."""


@dataclass(frozen=True)
class Value:
    """A mean over seeds and items."""

    mean: float
    low: float | None = None
    """Lower end of the 95 % interval over items with fixed models; None if the metric is not a mean over items."""
    high: float | None = None
    """Upper end of the interval."""
    seeds: tuple[float, ...] = ()
    """The value of each seed; empty if unknown."""

    @property
    def deviation(self) -> float | None:
        """Sample standard deviation over seeds; None for fewer than two."""
        return statistics.stdev(self.seeds) if len(self.seeds) > 1 else None

    def plain(self, name: str) -> dict[str, float]:
        """Return the known fields as a JSON object with six digits, the mean as ``name``."""
        known = {name: self.mean, "low": self.low, "high": self.high, "sd": self.deviation}
        return {key: rounded(number) for key, number in known.items() if number is not None}


def shifted(value: Value, by: float) -> Value:
    """Return the value, its interval and its seeds with a constant added."""
    low, high = (None if end is None else end + by for end in (value.low, value.high))
    return Value(value.mean + by, low, high, tuple(seed + by for seed in value.seeds))


@dataclass(frozen=True)
class Contrast:
    """A paired difference, item by item, of two results or of weighted sums of several."""

    title: str
    on: str
    """The test set or retrieval direction of the difference."""
    difference: Value
    """The difference; its interval is over the items' differences."""
    first: Value | None = None
    """The minuend, if the contrast is of two values."""
    second: Value | None = None
    """The subtrahend."""

    @property
    def clear(self) -> bool:
        """Whether the interval excludes 0."""
        return (self.difference.low or 0.0) > 0 or (self.difference.high or 0.0) < 0

    @property
    def agreeing(self) -> int:
        """Number of seeds whose difference has the sign of the mean."""
        return sum(value * self.difference.mean > 0 for value in self.difference.seeds)


def best_of(column: Mapping[K, Value]) -> set[K]:
    """Return the rows with the highest printed value, including ties; none for a single row or a maximum of 0."""
    printed = {row: round(value.mean, DIGITS) for row, value in column.items()}
    most = max(printed.values(), default=0.0)
    return {row for row, value in printed.items() if value == most > 0} if len(printed) > 1 else set()


def number(value: Value) -> str:
    """Format a value with its deviation over seeds: 0.345 ± 0.012, or 0.345 for one seed."""
    return f"{value.mean:.3f}" if value.deviation is None else f"{value.mean:.3f} ± {value.deviation:.3f}"


def beside_chance(low: float | None, chance: float) -> str:
    """Return a remark on a value whose interval reaches down to chance; empty for a better one, or without an interval."""
    return "" if low is None or low > chance else "not better than chance"


def interval(value: Value) -> str:
    """Format a value's interval as 0.123 to 0.456; an empty string without one."""
    return "" if value.low is None or value.high is None else f"{decimal(value.low)} to {decimal(value.high)}"
