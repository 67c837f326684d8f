"""Measures over days: their names, their values, and the scale on which days are compared.

A share is compared as arcsin √p, on which its sampling variance hardly depends on p (Freeman and Tukey 1950), so that rare errors
and usual shares follow one rule. A mean is compared as its logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
