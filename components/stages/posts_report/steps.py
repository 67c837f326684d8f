"""What each step lost, and how the set grew: from ledgers, and from the days of the posts.

Source: #PraCegoVer section 4.3, figure 6 (shares of all that was collected), and section 5.1, figure 8.
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
"""A file of the crawl's output, where its source tells how many posts carry the tag: ``date,total``."""
WITHDRAWN = re.compile(r"^account_|privat|withdrawn|gone|deleted|removed|takedown|taken_down")
"""Rules of the crawl for what was public once."""
UNUSABLE = re.compile(r"unreadable|missing|undecodable")
"""Rules after it that speak of the picture itself."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Step:
    """A step and what it lost."""

    name: str
    title: str
    lost: int
    share: float
    """Of all posts that were collected."""
    rules: Mapping[str, int]
    paper: float | None
    """The share of figure 6; None where the paper tells none."""


@dataclass(frozen=True)
class Growth:
    """How many posts there were by a day."""

    series: str
    days: Sequence[tuple[str, int]]
    """ISO date, posts up to and with that day."""
    unknown: int
    """Posts without such a date."""


def losses(outputs: Mapping[str, StageOutput]) -> tuple[int, list[Step]]:
    """The posts that the crawl collected, and what each step lost of them; a post with several pictures counts with each.

    Args:
        outputs: ``crawl``, ``describe``, ``dedup`` and ``input`` (the split); one that is missing lost nothing.
    """
    crawled = _records(outputs["crawl"])
    every = len(crawled)
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
    steps = [_step(name, title, lost, every, paper) for name, title, lost, paper in parts]
    rules = Counter({rule: n for step in steps for rule, n in step.rules.items()})
    total = sum(step.lost for step in steps)
    return every, [*steps, Step("all", "all steps", total, total / every if every else 0.0, rules, 0.568)]


def growth(posted: Iterable[str], collected: Iterable[str], totals: Sequence[tuple[str, int]]) -> list[Growth]:
    """Cumulative posts by the day they were posted and by the day they were collected, and the tag's own total if known."""
    made = [_cumulative("by day posted", posted), _cumulative("by day collected", collected)]
    return [*made, Growth("all posts of the tag", totals, 0)] if totals else made


def tag_totals(crawl: StageOutput) -> list[tuple[str, int]]:
    """What the crawl's source told of the tag's size, by day; empty where it told nothing."""
    if all(entry.path != TOTALS for entry in crawl.manifest.files):
        return []
    path = crawl.file(TOTALS)
    try:
        rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
        return sorted((row["date"][:10], int(row["total"])) for row in rows)
    except (KeyError, TypeError, ValueError) as error:
        raise HearsightError(f"is not a table of date,total ({error})", where=path, hint="run the crawl again") from None


def _records(output: StageOutput) -> dict[str, str]:
    """key → the rule that dropped it, empty for what stayed."""
    ledger = output.ledger()
    columns = (ledger[name].to_pylist() for name in ("kind", "key", "rule"))
    return {key: rule for kind, key, rule in zip(*columns, strict=True) if kind == "record"}


def _dropped(output: StageOutput | None) -> dict[str, str]:
    return {key: rule for key, rule in _records(output).items() if rule} if output else {}


def _step(name: str, title: str, lost: Mapping[str, str], every: int, paper: float | None) -> Step:
    rules = Counter(lost.values())
    ordered = dict(sorted(rules.items(), key=lambda item: (-item[1], item[0])))
    return Step(name, title, len(lost), len(lost) / every if every else 0.0, ordered, paper)


def _cumulative(series: str, dates: Iterable[Any]) -> Growth:
    counts: Counter[str] = Counter()
    unknown = 0
    for text in dates:
        if found := _DAY.match(text or ""):
            counts[found.group()] += 1
        else:
            unknown += 1
    sofar, days = 0, []
    for day in sorted(counts):
        sofar += counts[day]
        days.append((day, sofar))
    return Growth(series, days, unknown)
