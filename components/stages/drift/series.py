"""Measures over days: their names, their values, the scale on which days are compared, the usual range, and what lies outside.

A share is compared as arcsin √p, on which its sampling variance hardly depends on p (Freeman and Tukey 1950), so that rare errors
and usual shares follow one rule. A mean is compared as its logarithm.

The range reaches from the 20th to the 80th percentile of the days, and on each side by ``sigmas`` robust standard deviations: of
the days about their median (MAD), of the day's own number of records, and of the median itself. Percentiles instead of the median
alone, because a week has days of two kinds: two such days in seven do not warn every weekend. Up to a fifth of the days may have
any value without moving the range.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from components.reporting.values import decimal, percent
from components.stages.drift import Params
from components.stages.drift.day import LONGEST
from components.stages.drift.history import Day, Family

LEAST_SHARE = 0.01
"""Languages that never reach this share are counted together."""
BINS = ((0, 2), (3, 4), (5, 9), (10, 14), (15, 19), (20, 29), (30, 49), (50, LONGEST))
"""Words of a caption, counted together."""
MEAN, OTHER = "mean", "other"
OWNERS = {
    "largest": "records of the largest {0}",
    "new": "records of new {0}s",
    "distinct": "{0}s per record",
}


class Point(NamedTuple):
    """The value of a measure on one day."""

    value: float
    """A share, 0 to 1, or a mean."""
    scaled: float
    """The value on the scale of comparisons."""
    variance: float
    """Of ``scaled``, from the number of records alone."""
    of: int
    """Records, or addresses."""


@dataclass(frozen=True)
class Measure:
    """One measure over days."""

    key: str
    """``<group>/<subject>/<label>``."""
    points: list[Point | None]
    """One for each day; None for a day without records."""

    @property
    def group(self) -> str:
        """What it belongs to, as ``pass rates``."""
        return self.key.split("/")[0]

    @property
    def is_share(self) -> bool:
        """Whether it is a share of records rather than a mean."""
        return not self.key.endswith(f"/{MEAN}")

    @property
    def title(self) -> str:
        """Its name in plain words."""
        group, subject, label = self.key.split("/", 2)
        if group == "lengths":
            return "words per caption" if label == MEAN else f"captions of {label} words"
        if group in ("owners", "hosts"):
            return OWNERS[label].format(group[:-1])
        if group == "languages":
            return "other languages" if label == OTHER else f"language {label or 'unknown'}"
        return f"{subject}: {label}"

    def unscaled(self, scaled: float) -> float:
        """Return the value whose ``scaled`` is given; of a share 0 to 1."""
        return math.sin(min(max(scaled, 0.0), math.pi / 2)) ** 2 if self.is_share else math.exp(scaled)


def share(count: int, of: int) -> Point | None:
    """Return a share as a point; None for none of none."""
    if not of:
        return None
    return Point(count / of, math.asin(math.sqrt((count + 0.375) / (of + 0.75))), 1 / (4 * of + 2), of)


def mean(counts: Mapping[str, int]) -> Point | None:
    """Return the mean of counted numbers as a point; None without any above 0."""
    total = sum(counts.values())
    middle = sum(int(number) * n for number, n in counts.items()) / total if total else 0.0
    if not middle:
        return None
    spread = sum(n * (int(number) - middle) ** 2 for number, n in counts.items()) / total
    return Point(middle, math.log(middle), max(spread, 1.0) / middle**2 / total, total)


def measures(days: Sequence[Day]) -> list[Measure]:
    """Return every measure of the last of ``days`` or of the others, by key."""
    made: list[Measure] = []
    for name in sorted({name for day in days for name in day.families}):
        families = [day.families.get(name, Family()) for day in days]
        if name.startswith("lengths/"):
            made.append(Measure(f"{name}/{MEAN}", [mean(family.counts) for family in families]))
            families = [_binned(family) for family in families]
        elif name.startswith("languages/"):
            families = _without_rare(families)
        for label in _labels(families):
            points = [share(family.counts.get(label, 0), family.of) for family in families]
            if name.startswith(("owners/", "hosts/")):  # a day whose base is unknown has no new owners
                points = [point if label in family.counts else None for point, family in zip(points, families, strict=True)]
            made.append(Measure(f"{name}/{label}", points))
    return made


def _labels(families: Iterable[Family]) -> list[str]:
    return sorted({label for family in families for label, count in family.counts.items() if count})


def _binned(family: Family) -> Family:
    counts: dict[str, int] = {}
    for words, count in family.counts.items():
        low, high = next(limits for limits in BINS if limits[0] <= int(words) <= limits[1])
        label = f"{low} or more" if high == LONGEST else f"{low} to {high}"
        counts[label] = counts.get(label, 0) + count
    return Family(family.of, counts)


def _without_rare(families: Sequence[Family]) -> list[Family]:
    common = {name for family in families for name, n in family.counts.items() if n >= LEAST_SHARE * family.of}
    return [
        Family(
            family.of,
            {name: n for name, n in family.counts.items() if name in common}
            | {OTHER: sum(n for name, n in family.counts.items() if name not in common)},
        )
        for family in families
    ]


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
