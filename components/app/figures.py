"""Each dataset's funnel and its models' main scores, for the start page: from manifests, and from the metrics of DVC."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from components.core.addresses import COMPARED, FUNNEL, MATRICES, metrics_path
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.params import dotted
from components.core.stage_output import StageOutput
from components.reporting.values import beside_chance
from components.tracking.overview import counts_of, finished
from components.tracking.states import OutputState

BEST = 6
"""Number of scores of a kind that are shown: the best."""
NAMES = {"cider_d": "CIDEr-D"}
"""Figure → its name in a heading; others have their own name with spaces, and ``r_at_10`` is R@10."""
LOWER = {"word_error_rate"}
"""Figures of which the lowest is the best."""


class Remark(NamedTuple):
    """What to know about a score: the name of a text of the page, and the number that the text has."""

    name: str
    number: int = 0


@dataclass(frozen=True)
class Bar:
    """A line of a table with a bar."""

    label: str
    value: float
    share: float
    """The length of the bar, 0 to 1."""
    state: OutputState
    """Of the output whose figure it is."""
    remark: Remark | None = None


@dataclass
class Scores:
    """The best models by one kind of score."""

    lower: bool
    """Whether the lowest is the best."""
    bars: list[Bar] = field(default_factory=list)
    most: float = 1.0
    """The value at which a bar has length 1: 1, or the highest score."""


@dataclass
class Figures:
    """What a dataset has to show."""

    funnel: list[Bar] = field(default_factory=list)
    """Records left after each stage; a bar of length 1 is the most."""
    scores: dict[str, Scores] = field(default_factory=dict)
    """Kind of score → the best models."""


def figures(graph: Graph, states: Mapping[str, OutputState]) -> dict[str, Figures]:
    """Return dataset → its figures, where there are any; a captioner's score is with the set that it was trained on."""
    found: dict[str, Figures] = {}
    for dataset in graph.datasets:
        done = finished(graph, dataset)
        left = {stage: counts_of(done[stage]).left for stage in ("crawl", *FUNNEL) if stage in done}
        most = max(left.values(), default=0) or 1
        for stage, number in left.items():
            bar = Bar(stage, number, number / most, states[f"{dataset}/{stage}"])
            found.setdefault(dataset, Figures()).funnel.append(bar)
        for stage in (each for each in COMPARED if each in done and each not in FUNNEL):
            remarks = _remarks(_scores(done[stage]))
            for name, value in dotted(_read(metrics_path(graph.root, dataset, stage))):
                names = name.split(".")
                owner, *label, kind = names[1:] if names[0] in MATRICES else names
                remark = remarks.get((*label, kind))
                bar = Bar(_shown(" ".join(label) or "all"), value, 0, states[f"{dataset}/{stage}"], remark)
                scores = found.setdefault(owner, Figures()).scores
                scores.setdefault(NAMES.get(kind, _shown(kind)), Scores(kind in LOWER)).bars.append(bar)
    for each in (scores for shown in found.values() for scores in shown.scores.values()):
        best = sorted(each.bars, key=lambda bar: bar.value, reverse=not each.lower)[:BEST]
        each.most = max(1.0, *(bar.value for bar in best))
        each.bars = [replace(bar, share=bar.value / each.most) for bar in best]
    return found


def _scores(output: StageOutput) -> dict[str, Any]:
    """Return all scores of an output; nothing where it has none, or damaged ones."""
    try:
        return _read(output.file("scores.json"))
    except HearsightError:
        return {}


def _remarks(scores: Mapping[str, Any]) -> dict[tuple[str, ...], Remark]:
    """Return names of a figure of DVC, without the dataset → what the scores of its stage say besides."""
    found: dict[tuple[str, ...], Remark] = {}
    retrieval = scores.get("retrieval", {})
    for row, crops in retrieval.get("rows", {}).items():
        for way, recalls in crops.get(retrieval["crop"], {}).items():
            for depth, recall in recalls.items():
                if beside_chance(recall.get("low"), retrieval["chance"].get(way, {}).get(depth, 0.0)):
                    found[row, way, depth] = Remark("not_better_than_chance")
    for row in scores.get("ratings", {}).get("rows", ()):
        names = filter(None, (row["table"], row["source"], row["crop"] or row["direction"]))
        found[(*names, "good_by_majority")] = Remark("of_queries" if row["direction"] else "of_pairs", row["counted"])
    return found


def _shown(name: str) -> str:
    return name.replace("r_at_", "R@").replace("_", " ")


def _read(path: Path) -> dict[str, Any]:
    """Return the metrics in a file; nothing where there is none, e.g. of a run by an earlier version, or a damaged one."""
    try:
        return dict(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return {}
