"""Find the parts of the pipeline that several ``dvc repro`` can run at the same time: stages that come from the same crawls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

from components.core.addresses import parse_output_name, stage_address
from components.core.graph import Graph
from components.core.params import YAML_LOADER


@dataclass(frozen=True)
class Lane:
    """Stages that come from the same crawls."""

    crawls: frozenset[str]
    """The outputs without inputs (``<dataset>/<stage>``) that all of it comes from."""
    targets: list[str] = field(default_factory=list)
    """DVC's addresses, each after those that it reads."""

    def waits_for(self, other: Lane) -> bool:
        """Whether this lane may read what the other one writes."""
        return other.crawls < self.crawls


def lanes(graph: Graph) -> list[Lane]:
    """Return the lanes of all stages; lanes that wait for no other come first, the longest of them first."""
    inputs = {
        f"{dataset}/{stage}": set(read.values()) for stage, takers in graph.chain.items() for dataset, read in takers.items()
    }

    @cache
    def crawls(output: str) -> frozenset[str]:
        return frozenset().union(*map(crawls, inputs[output])) or frozenset((output,))

    @cache
    def depth(output: str) -> int:
        return 1 + max(map(depth, inputs[output]), default=0)

    by_crawls: dict[frozenset[str], Lane] = {}
    for output in sorted(inputs, key=depth):
        dataset, stage = parse_output_name(output)
        lane = by_crawls.setdefault(crawls(output), Lane(crawls(output)))
        lane.targets.append(stage_address(dataset, stage))
    return sorted(by_crawls.values(), key=lambda lane: (len(lane.crawls), -len(lane.targets)))


def new_lanes(root: Path, graph: Graph) -> list[Lane]:
    """Return the lanes with a stage that has never run here; empty when there are not two of them."""
    try:
        locked = set((yaml.load((root / "dvc.lock").read_text(encoding="utf-8"), YAML_LOADER) or {}).get("stages") or {})
    except (OSError, yaml.YAMLError, AttributeError):
        locked = set()
    new = [lane for lane in lanes(graph) if not locked.issuperset(lane.targets)]
    return new if len(new) > 1 else []


def next_lane(waiting: Iterable[Lane], running: Iterable[Lane]) -> Lane | None:
    """Return the first lane that waits for no other of ``waiting`` and ``running``; None when there is none."""
    waiting = list(waiting)
    unfinished = [*waiting, *running]
    return next((lane for lane in waiting if not any(lane.waits_for(other) for other in unfinished)), None)
