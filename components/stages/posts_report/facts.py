"""All that the page tells, gathered from the outputs before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.stages.posts_report.bias import Group, contrasts
from components.stages.posts_report.clusters import Sheet, choose, duplicates, sizes
from components.stages.posts_report.steps import Growth, Step, growth, losses, tag_totals
from components.stages.posts_report.topics import Topic, find_topics
from components.stages.posts_report.words import Offence, Vocabulary, offences, vocabulary


@dataclass
class PostsReport:
    """What is known of a set of posts, before it is drawn."""

    dataset: str
    language: str
    collected: int
    """Posts that the crawl collected, whatever became of them."""
    steps: list[Step]
    growth: list[Growth]
    posts: int
    """Posts that are left."""
    owners: int
    splits: dict[str, int]
    words: Vocabulary
    compared: Vocabulary | None
    offences: list[Offence] | None
    """None: no list for the language."""
    contrasts: list[list[Group]] | None
    """None: no groups listed for the language."""
    topics: list[Topic]
    clustered: dict[str, Any] = field(default_factory=dict)
    """The summary that the clustering left, or nothing."""
    sizes_before: dict[int, int] = field(default_factory=dict)
    sizes_after: dict[int, int] = field(default_factory=dict)
    """cluster → posts, before and after duplicates were removed."""
    places: list[tuple[str, int, float, float]] = field(default_factory=list)
    """key, cluster, x, y."""
    sheets: list[Sheet] = field(default_factory=list)
    captions: dict[str, str] = field(default_factory=dict)
    """key → description, of every post that was clustered."""


def gather(stage: Stage) -> PostsReport:
    """Read the inputs of an analyze stage."""
    inputs, params = stage.inputs, stage.params
    left = inputs["input"].table(["key", "caption", "owner", "split"]).to_pylist()
    captions = [row["caption"] for row in left]
    every, steps = losses(inputs)
    dates = inputs["crawl"].table(["posted", "collected"])
    words = vocabulary(stage.dataset, captions)
    report = PostsReport(
        dataset=stage.dataset,
        language=params.language,
        collected=every,
        steps=steps,
        growth=growth(dates["posted"].to_pylist(), dates["collected"].to_pylist(), tag_totals(inputs["crawl"])),
        posts=len(left),
        owners=len({row["owner"] for row in left if row["owner"]}),
        splits={name: sum(row["split"] == name for row in left) for name in ("train", "validation", "test")},
        words=words,
        compared=_compared(inputs),
        offences=offences(params.language, captions, words),
        contrasts=contrasts(
            captions, params.language, min_group=params.min_group, min_together=params.min_together, most=params.bias_words
        ),
        topics=find_topics(captions, params.language, params.topics, params.min_documents, params.topic_words, params.seed),
    )
    if "cluster" in inputs:
        _clusters(report, inputs, {row["key"] for row in left}, params)
    return report


def _compared(inputs: Mapping[str, StageOutput]) -> Vocabulary | None:
    other = inputs.get("comparison")
    if other is None:
        return None
    return vocabulary(other.path.parent.name, other.table(["caption"])["caption"].to_pylist())


def _clusters(report: PostsReport, inputs: Mapping[str, StageOutput], left: set[str], params: Any) -> None:
    rows = sorted(inputs["cluster"].table().to_pylist(), key=lambda row: row["key"])
    cluster_of = {row["key"]: row["cluster"] for row in rows}
    report.places = [(row["key"], row["cluster"], row["x"], row["y"]) for row in rows]
    report.sizes_before = sizes(cluster_of.values())
    report.sizes_after = sizes(at for key, at in cluster_of.items() if key in left)
    report.clustered = json.loads(inputs["cluster"].file("clusters.json").read_text())
    described = inputs["extract_descriptions"].table(["key", "caption"]).to_pylist()
    report.captions = {row["key"]: row["caption"] for row in described if row["key"] in cluster_of}
    component_of, gone = duplicates(inputs["dedup"].ledger().to_pylist())
    report.sheets = choose(
        cluster_of, report.captions, component_of, gone,
        sheets=params.sheets, sheet=params.sheet, seed=params.seed, language=params.language,
    )  # fmt: skip
