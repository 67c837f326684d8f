"""The content of the report, read from the outputs of earlier stages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.stages.posts_report.bias import Group, measure_contrasts
from components.stages.posts_report.clusters import Sheet, cluster_sizes, find_duplicates, make_sheets
from components.stages.posts_report.steps import Growth, Step, measure_growth, measure_losses, read_tag_totals
from components.stages.posts_report.words import Offence, Topic, Vocabulary, count_words, find_offences, find_topics


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
