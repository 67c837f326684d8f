"""The content of the report, read from the outputs of earlier stages.

Losses of each step, from ledgers, and growth of the set, from the dates of posts.

Sources: PCV §4.3, figure 6 (shares of all collected posts), and §5.1, figure 8.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.stages.posts_report.bias import Group, measure_contrasts
from components.stages.posts_report.clusters import Sheet, cluster_sizes, find_duplicates, make_sheets
from components.stages.posts_report.words import Offence, Topic, Vocabulary, count_words, find_offences, find_topics

TOTALS = "tag_totals.csv"
"""File of the crawl's output with the total number of posts of the tag, if the source reports it: ``date,total``."""
WITHDRAWN = re.compile(r"^account_|privat|withdrawn|gone|deleted|removed|takedown|taken_down")
"""Rules of the crawl for posts that are no longer public."""
UNUSABLE = re.compile(r"unreadable|missing|undecodable")
"""Rules of later stages for unusable images."""
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
    """Return the number of collected posts and the losses of each step; a post counts once per image.

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
        ("unusable", "no image that can be used", other, None),
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


@dataclass
class PostsReport:
    """Everything that the report of a set of posts shows."""

    dataset: str
    language: str
    collected: int
    """Posts that the crawl collected, including those dropped later."""
    steps: list[Step]
    growth: list[Growth]
    posts: int
    owners: int
    splits: dict[str, int]
    words: Vocabulary
    compared: Vocabulary | None
    offences: list[Offence] | None
    """None without a list for the language."""
    contrasts: list[list[Group]] | None
    """None without a list of groups for the language."""
    topics: list[Topic]
    clustered: dict[str, Any] = field(default_factory=dict)
    """The clustering's ``clusters.json``; empty without clusters."""
    sizes_before: dict[int, int] = field(default_factory=dict)
    sizes_after: dict[int, int] = field(default_factory=dict)
    """Cluster → posts, before and after removing duplicates."""
    positions: list[tuple[str, int, float, float]] = field(default_factory=list)
    """Key, cluster, x, y of each clustered post."""
    sheets: list[Sheet] = field(default_factory=list)
    captions: dict[str, str] = field(default_factory=dict)
    """Key → description of every clustered post."""


def gather(stage: Stage) -> PostsReport:
    """Return the report of a stage's inputs."""
    inputs, params = stage.inputs, stage.params
    remaining = inputs["input"].table(["key", "caption", "owner", "split"]).to_pylist()
    captions = [row["caption"] for row in remaining]
    collected, steps = measure_losses(inputs)
    dates = inputs["crawl"].table(["posted", "collected"])
    words = count_words(stage.dataset, captions)
    compared = None
    if other := inputs.get("comparison"):
        compared = count_words(other.path.parent.name, other.table(["caption"])["caption"].to_pylist())
    report = PostsReport(
        dataset=stage.dataset,
        language=params.language,
        collected=collected,
        steps=steps,
        growth=measure_growth(dates["posted"].to_pylist(), dates["collected"].to_pylist(), read_tag_totals(inputs["crawl"])),
        posts=len(remaining),
        owners=len({row["owner"] for row in remaining if row["owner"]}),
        splits={name: sum(row["split"] == name for row in remaining) for name in ("train", "validation", "test")},
        words=words,
        compared=compared,
        offences=find_offences(params.language, captions, words),
        contrasts=measure_contrasts(
            captions, params.language, min_group=params.min_group, min_together=params.min_together, most=params.bias_words
        ),
        topics=find_topics(captions, params.language, params.topics, params.min_documents, params.topic_words, params.seed),
    )
    if "cluster" in inputs:
        _clusters(report, inputs, {row["key"] for row in remaining}, params)
    return report


def _clusters(report: PostsReport, inputs: Mapping[str, StageOutput], remaining: set[str], params: Any) -> None:
    rows = sorted(inputs["cluster"].table().to_pylist(), key=lambda row: row["key"])
    cluster_of = {row["key"]: row["cluster"] for row in rows}
    report.positions = [(row["key"], row["cluster"], row["x"], row["y"]) for row in rows]
    report.sizes_before = cluster_sizes(cluster_of.values())
    report.sizes_after = cluster_sizes(at for key, at in cluster_of.items() if key in remaining)
    report.clustered = json.loads(inputs["cluster"].file("clusters.json").read_text())
    described = inputs["extract_descriptions"].table(["key", "caption"]).to_pylist()
    report.captions = {row["key"]: row["caption"] for row in described if row["key"] in cluster_of}
    component_of, dropped = find_duplicates(inputs["dedup"].ledger().to_pylist())
    report.sheets = make_sheets(
        cluster_of, report.captions, component_of, dropped,
        sheets=params.sheets, sheet=params.sheet, seed=params.seed, language=params.language,
    )  # fmt: skip
