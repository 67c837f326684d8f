"""Losses of each step, from ledgers, and growth of the set, from the dates of posts.

Sources: PCV §4.3, figure 6 (shares of all collected posts), and §5.1, figure 8.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput

TOTALS = "tag_totals.csv"
"""File of the crawl's output with the total number of posts of the tag, if the source reports it: ``date,total``."""
WITHDRAWN = re.compile(r"^account_|privat|withdrawn|gone|deleted|removed|takedown|taken_down")
"""Rules of the crawl for posts that are no longer public."""
UNUSABLE = re.compile(r"unreadable|missing|undecodable")
"""Rules of later stages for unusable pictures."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Step:
    """A step with its losses."""

    name: str
    title: str
    lost: int
    share: float
    """Share of all collected posts."""
    rules: Mapping[str, int]
    paper: float | None
    """The share in figure 6; None where the paper reports none."""


@dataclass(frozen=True)
class Growth:
    """Cumulative number of posts by day."""

    series: str
    days: Sequence[tuple[str, int]]
    """ISO date, posts up to and including that day."""
    unknown: int
    """Posts without a date."""


def measure_losses(outputs: Mapping[str, StageOutput]) -> tuple[int, list[Step]]:
    """Return the number of collected posts and the losses of each step; a post counts once per picture.

    Args:
        outputs: ``crawl``, ``extract_descriptions``, ``dedup`` and ``input`` (the split); a missing one lost nothing.
    """
    crawled = _dropping_rules(outputs["crawl"])
    collected_count = len(crawled)
    private = {key: rule for key, rule in crawled.items() if rule and WITHDRAWN.search(rule)}
    other = {key: rule for key, rule in crawled.items() if rule and key not in private}
    malformed, repeated = (_dropped(outputs.get(name)) for name in ("extract_descriptions", "dedup"))
    repeated |= _dropped(outputs.get("input"))
    other |= {key: rule for key, rule in repeated.items() if UNUSABLE.search(rule)}
    repeated = {key: rule for key, rule in repeated.items() if key not in other}
    parts = [
        ("withdrawn", "turned private or withdrawn since", private, 0.023),
        ("unusable", "no picture that can be used", other, None),
        ("malformed", "malformed description", malformed, 0.096),
        ("duplicate", "duplicate", repeated, 0.449),
    ]
    steps = [_step(name, title, lost, collected_count, paper) for name, title, lost, paper in parts]
    rules = Counter({rule: n for step in steps for rule, n in step.rules.items()})
    total = sum(step.lost for step in steps)
    return collected_count, [
        *steps,
        Step("all", "all steps", total, total / collected_count if collected_count else 0.0, rules, 0.568),
    ]


def measure_growth(posted: Iterable[str], collected: Iterable[str], totals: Sequence[tuple[str, int]]) -> list[Growth]:
    """Return cumulative posts by day posted and by day collected, and the total of the tag if known."""
    series = [_cumulative("by day posted", posted), _cumulative("by day collected", collected)]
    return [*series, Growth("all posts of the tag", totals, 0)] if totals else series


def read_tag_totals(crawl: StageOutput) -> list[tuple[str, int]]:
    """Return the total number of posts of the tag by day; empty where the source does not report it."""
    if all(entry.path != TOTALS for entry in crawl.manifest.files):
        return []
    path = crawl.file(TOTALS)
    try:
        rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
        return sorted((row["date"][:10], int(row["total"])) for row in rows)
    except (KeyError, TypeError, ValueError) as error:
        raise HearsightError(
            f"is not a table with the columns date,total ({error})", where=path, hint="run the crawl again"
        ) from None


def _dropping_rules(output: StageOutput) -> dict[str, str]:
    """Return key → the rule that dropped the record; empty for kept records."""
    ledger = output.ledger()
    columns = (ledger[name].to_pylist() for name in ("kind", "key", "rule"))
    return {key: rule for kind, key, rule in zip(*columns, strict=True) if kind == "record"}


def _dropped(output: StageOutput | None) -> dict[str, str]:
    return {key: rule for key, rule in _dropping_rules(output).items() if rule} if output else {}


def _step(name: str, title: str, lost: Mapping[str, str], collected_count: int, paper: float | None) -> Step:
    rules = Counter(lost.values())
    ordered = dict(sorted(rules.items(), key=lambda item: (-item[1], item[0])))
    return Step(name, title, len(lost), len(lost) / collected_count if collected_count else 0.0, ordered, paper)


def _cumulative(series: str, dates: Iterable[Any]) -> Growth:
    counts: Counter[str] = Counter()
    unknown = 0
    for text in dates:
        if match := _DAY.match(text or ""):
            counts[match.group()] += 1
        else:
            unknown += 1
    total, days = 0, []
    for day in sorted(counts):
        total += counts[day]
        days.append((day, total))
    return Growth(series, days, unknown)
