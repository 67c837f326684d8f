"""False alarms and misses of the drift check, on simulated days: ``python -m benchmarks.drift [--runs N] [--seed S]``.

Each run has 60 days of one dataset; the last thirty are judged. A stationary day draws its shares about the dataset's own, with a
variation between days beside that of the draw. A changed dataset changes once, on the last day. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.harness import show
from components.stages.drift import Params
from components.stages.drift.history import Day, Family
from components.stages.drift.series import Judged, measures

DAYS = 60
SHARES = {
    "pass rates/crawl": {"kept": 0.7, "duplicate_pair": 0.2, "empty_alt": 0.1},
    "pass rates/filter": {
        "kept": 0.13, "image_side": 0.48, "label_overlap": 0.17, "noun_ratio": 0.09, "capital_ratio": 0.09,
        "title_case": 0.013, "unknown_token": 0.012, "min_words": 0.008, "aspect_ratio": 0.007, "boilerplate_pattern": 0.0005,
    },
    "pass rates/hypernymize": {"kept": 0.62, "rare_concept": 0.34, "too_short": 0.03, "inconsistent": 0.007},
    "pass rates/dedup": {"kept": 0.97, "duplicate_pair": 0.02, "duplicate_post": 0.01},
    "errors/pages": {"": 0.98, "http_status": 0.01, "robots": 0.004, "redirect": 0.005, "timeout": 0.0005, "connection": 0.0005},
    "errors/images": {"": 0.994, "http_status": 0.001, "connection": 0.001, "not_an_image": 0.002, "truncated_image": 0.002},
    "languages/candidates": {"pt": 0.8, "en": 0.1, "es": 0.06, "fr": 0.03, "de": 0.01},
    "owners/candidates": {"": 0.36, "largest": 0.04, "new": 0.2, "distinct": 0.4},
}  # fmt: skip
"""Shares of a dataset like the sample's; '' is what no measure counts."""
LENGTHS = (11.0, 5.0)
"""Mean and standard deviation of a caption's words."""
PARTS = {
    "pass rates/filter": 1.0,
    "pass rates/hypernymize": 0.13,
    "pass rates/dedup": 0.08,
    "errors/pages": 3.0,
    "errors/images": 3.0,
}
"""Records of a family for each new record of the day."""


def make_days(
    draw: np.random.Generator, records: int, variation: float, weekend: float = 0.0, change: Callable[[Day], Day] | None = None
) -> list[Day]:
    """Return the days of a dataset; the last one is ``change(day)``.

    Args:
        records: mean number of new records a day, which itself varies by half.
        variation: standard deviation between days of a share's logit.
        weekend: what two of seven days add to the logit of every first share.
    """
    days = []
    for number in range(DAYS):
        count = max(int(records * draw.uniform(0.5, 1.5)), 1)
        families = {}
        for name, shares in SHARES.items():
            of = max(int(count * PARTS.get(name, 1.0)), 1)
            noise = draw.normal(0, variation, len(shares))
            noise[0] += weekend if number % 7 in (5, 6) else 0
            odds = np.array(list(shares.values())) * np.exp(noise)
            counts = draw.multinomial(of, odds / odds.sum())
            families[name] = Family(of, {label: int(n) for label, n in zip(shares, counts, strict=True) if label})
        average = LENGTHS[0] * np.exp(draw.normal(0, variation / 4))
        words = np.clip(draw.gamma((average / LENGTHS[1]) ** 2, LENGTHS[1] ** 2 / average, max(int(count * 0.08), 1)), 1, 100)
        numbers, times = np.unique(words.astype(int), return_counts=True)
        families["lengths/captions"] = Family(len(words), {str(n): int(k) for n, k in zip(numbers, times, strict=True)})
        days.append(Day(f"day-{number}", "", "", "", True, families))
    return days if change is None else [*days[:-1], change(days[-1])]


def moved(family: str, label: str, by: float, source: str = "") -> Callable[[Day], Day]:
    """Return a change that moves ``by`` of a family's records to ``label``, from ``source`` or from those that have none."""

    def change(day: Day) -> Day:
        old = day.families[family]
        number = round(by * old.of)
        counts = dict(old.counts)
        if source:
            number = min(number, counts.get(source, 0))
            counts[source] = counts.get(source, 0) - number
        counts[label] = counts.get(label, 0) + number
        return replace(day, families={**day.families, family: Family(old.of, counts)})

    return change


def longer(factor: float) -> Callable[[Day], Day]:
    """Return a change of the captions' lengths."""

    def change(day: Day) -> Day:
        old, counts = day.families["lengths/captions"], dict[str, int]()
        for words, number in old.counts.items():
            label = str(min(round(int(words) * factor), 100))
            counts[label] = counts.get(label, 0) + number
        return replace(day, families={**day.families, "lengths/captions": Family(old.of, counts)})

    return change


CHANGES: dict[str, tuple[str, Callable[[Day], Day]]] = {
    "a fifth of the records in another language": ("languages", moved("languages/candidates", "it", 0.2, "pt")),
    "5 % of the pages time out": ("errors", moved("errors/pages", "timeout", 0.05)),
    "captions half as long again": ("lengths", longer(1.5)),
    "an owner with a quarter of the records": ("owners", moved("owners/candidates", "largest", 0.21)),
    "a filter that keeps two thirds of what it kept": ("pass rates", moved("pass rates/filter", "noun_ratio", 0.043, "kept")),
}
"""Change of one day → the group that has to warn, and what makes it."""


def warned(days: list[Day], at: int, params: Params) -> set[str]:
    """Return the groups that warn on a day."""
    return {measure.group for measure in measures(days) if Judged(measure, at, params).outside}


def main() -> None:
    """Print shares of days that warn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    params = Params()
    for records in (50, 500, 5000):
        for variation, weekend in ((0.0, 0.0), (0.1, 0.0), (0.3, 0.0), (0.1, 1.0)):
            draw = np.random.default_rng(chosen.seed)
            judged = alarms = bad = number = 0
            for _ in range(chosen.runs):
                found = measures(make_days(draw, records, variation, weekend))
                number = max(number, len(found))
                for at in range(DAYS // 2, DAYS):
                    outside = sum(Judged(measure, at, params).outside for measure in found)
                    judged, alarms, bad = judged + 1, alarms + outside, bad + (outside > 0)
            title = f"{records} records a day, varying by {variation:g}" + (", other weekends" if weekend else "")
            rates = {"days that warn, %": round(100 * bad / judged, 1), "of measures and days, %": 100 * alarms / judged / number}
            show({f"{chosen.runs} datasets, stationary": title, "measures": number, **rates})
    for title, (group, change) in CHANGES.items():
        cells = {}
        for records in (50, 500, 5000):
            draw = np.random.default_rng(chosen.seed)
            hits = [group in warned(make_days(draw, records, 0.1, change=change), DAYS - 1, params) for _ in range(chosen.runs)]
            cells[f"{records} records, %"] = round(100 * sum(hits) / len(hits))
        show({"change of the last day": title, **cells})


if __name__ == "__main__":
    main()
