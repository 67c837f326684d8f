"""Days of a dataset whose counts are drawn about its own shares."""

from __future__ import annotations

import random
from collections.abc import Callable

from components.core.stage_output import StageOutput
from components.stages.drift import Params
from components.stages.drift.history import Day, Family
from components.stages.drift.series import Judged, measures

Measure = Callable[..., StageOutput]

SHARES = {
    "pass rates/filter": {"kept": 0.6, "min_words": 0.25, "language": 0.14, "profanity": 0.01},
    "errors/pages": {"": 0.975, "http_status": 0.02, "timeout": 0.005},
    "languages/candidates": {"pt": 0.85, "en": 0.1, "es": 0.05},
    "owners/candidates": {"": 0.35, "largest": 0.05, "new": 0.2, "distinct": 0.4},
    "lengths/captions": {"4": 0.1, "8": 0.3, "12": 0.3, "16": 0.2, "25": 0.1},
}
"""Shares of each family; '' is what no measure counts."""


def drawn(source: random.Random, count: int = 35, records: int = 400, **changes: dict[str, float]) -> list[Day]:
    """Return days of about ``records`` records; on the last one the first word of a family's name gives other shares."""
    days = []
    for number in range(count):
        families = {}
        for name, shares in SHARES.items():
            if number == count - 1:
                shares = changes.get(name.split("/")[0].replace(" ", "_"), shares)
            of = source.randint(records // 2, 3 * records // 2)
            labels = source.choices(list(shares), list(shares.values()), k=of)
            families[name] = Family(of, {label: labels.count(label) for label in shares if label})
        days.append(Day(f"day-{number}", "", "", "", True, families))
    return days


def warned(days: list[Day], at: int = -1, **settings: float) -> dict[str, str]:
    """Return key → finding of each measure outside its usual range on a day."""
    params = Params(**settings)
    judged = [Judged(measure, range(len(days))[at], params) for measure in measures(days)]
    return {one.measure.key: one.finding for one in judged if one.outside}
