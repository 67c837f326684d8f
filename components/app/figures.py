"""Each dataset's funnel and its models' main scores, for the start page: from manifests, and from the metrics of DVC."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.core.addresses import COMPARED, FUNNEL, MATRICES, metrics_path
from components.core.graph import Graph
from components.core.params import dotted
from components.tracking.overview import counts_of, finished
from components.tracking.states import OutputState

BEST = 6
"""Number of scores of a kind that are shown: the best."""
NAMES = {"cider_d": "CIDEr-D"}
"""Figure → its name in a heading; others have their own name with spaces, and ``r_at_10`` is R@10."""


@dataclass(frozen=True)
class Bar:
    """A line of a table with a bar."""

    label: str
    value: float
    share: float
    """The length of the bar, 0 to 1."""
    state: OutputState
    """Of the output whose figure it is."""


@dataclass
class Figures:
    """What a dataset has to show."""

    funnel: list[Bar] = field(default_factory=list)
    """Records left after each stage; a bar of length 1 is the most."""
    scores: dict[str, list[Bar]] = field(default_factory=dict)
    """Kind of score → the best models; a bar of length 1 is 1 or the best."""


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
            for name, value in dotted(_read(metrics_path(graph.root, dataset, stage))):
                names = name.split(".")
                owner, *label, kind = names[1:] if names[0] in MATRICES else names
                bar = Bar(_shown(" ".join(label) or "all"), value, 0, states[f"{dataset}/{stage}"])
                found.setdefault(owner, Figures()).scores.setdefault(NAMES.get(kind, _shown(kind)), []).append(bar)
    for each in found.values():
        each.scores = {kind: _best(bars) for kind, bars in each.scores.items()}
    return found


def _best(bars: list[Bar]) -> list[Bar]:
    most = max(1.0, *(bar.value for bar in bars))
    chosen = sorted(bars, key=lambda bar: -bar.value)[:BEST]
    return [Bar(bar.label, bar.value, bar.value / most, bar.state) for bar in chosen]


def _shown(name: str) -> str:
    return name.replace("r_at_", "R@").replace("_", " ")


def _read(path: Path) -> dict[str, Any]:
    """Return the metrics in a file; nothing where there is none, e.g. of a run by an earlier version, or a damaged one."""
    try:
        return dict(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return {}
