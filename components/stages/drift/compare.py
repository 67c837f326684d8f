"""The usual range of a measure, from the days before, and what lies outside.

The range reaches from the 20th to the 80th percentile of the days, and on each side by ``sigmas`` robust standard deviations: of
the days about their median (MAD), of the day's own number of records, and of the median itself. Percentiles instead of the median
alone, because a week has days of two kinds: two such days in seven do not warn every weekend. Up to a fifth of the days may have
any value without moving the range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from components.reporting.values import decimal, percent
from components.stages.drift import Params
from components.stages.drift.series import Measure, Point

TO_DEVIATION = 1.4826
"""Standard deviations in a median absolute deviation of normal values."""
EDGE = 0.2
"""Share of the days below, and above, the middle of the range."""


class Judged:
    """A measure on one day: its value, its usual range, and whether it lies outside."""

    def __init__(self, measure: Measure, at: int, params: Params) -> None:
        self.measure, self.point = measure, measure.points[at]
        past = [point for point in measure.points[max(at - params.days, 0) : at] if point is not None]
        self.days = len(past)
        self.range: tuple[float, float] | None = None
        """None without enough days, or without records on the day."""
        if self.point is not None and self.days >= params.least_days:
            low, high = usual_range(past, self.point, params)
            self.range = measure.unscaled(low), measure.unscaled(high)
            self.outside = not low <= self.point.scaled <= high
        else:
            self.outside = False

    def row(self) -> dict[str, object]:
        """Return the record of a day that has a value."""
        assert self.point is not None
        low, high = self.range or (None, None)
        names = {"key": self.measure.key, "group": self.measure.group, "measure": self.measure.title, "finding": self.finding}
        return {**names, "value": self.point.value, "of": self.point.of, "days": self.days, "low": low, "high": high}

    @property
    def finding(self) -> str:
        """A text for a day outside the range; empty for another."""
        if not self.outside or self.point is None or self.range is None:
            return ""
        return f"{self.measure.title} {self.spell(self.point.value)}, usual {self.spelled_range}"

    @property
    def spelled_range(self) -> str:
        """The range as text; empty for none."""
        return "" if self.range is None else f"{self.spell(self.range[0])} to {self.spell(self.range[1])}"

    def spell(self, value: float) -> str:
        """Return a value of the measure as text."""
        return percent(value, small=True) if self.measure.is_share else decimal(value, 1)


def usual_range(past: Sequence[Point], today: Point, params: Params) -> tuple[float, float]:
    """Return the limits of a day's value on the scale of comparisons."""
    values = sorted(point.scaled for point in past)
    middle, sampling = median(values), median(point.variance for point in past)
    deviation = TO_DEVIATION * median(abs(value - middle) for value in values)
    between = max(deviation**2 - sampling, 0.0)
    variance = between + today.variance + (between + sampling) * math.pi / 2 / len(values)
    margin = params.sigmas * math.sqrt(variance)
    low, high = min(percentile(values, EDGE) - margin, middle - params.least_change), percentile(values, 1 - EDGE) + margin
    return low, max(high, middle + params.least_change)


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return a percentile of sorted values, interpolated between neighbours."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
