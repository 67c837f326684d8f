"""Find the parts of the pipeline that can run at the same time: the stages that come from one crawl alone.

``dvc repro`` runs one stage after the other, and many stages use one core. DVC allows several ``dvc repro`` on stages that do not
read each other's outputs.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from components.core.graph import Graph
from components.core.params import YAML_LOADER
from components.core.places import address, check_address, named


def lanes(graph: Graph) -> list[list[str]]:
    """Return DVC's addresses of the stages and checks that come from one crawl, a list for each crawl, the longest first."""

    @cache
    def crawls(output: str) -> frozenset[str]:
        """The outputs without inputs that ``<dataset>/<stage>`` comes from."""
        dataset, stage = named(output)
        inputs = graph.chain[stage][dataset]
        return frozenset().union(*map(crawls, inputs.values())) if inputs else frozenset((output,))

    checked = set(graph.params.get("gates") or {})
    found: dict[str, list[str]] = {}
    for stage, takers in graph.chain.items():
        for dataset in takers:
            if len(origin := crawls(f"{dataset}/{stage}")) == 1:
                lane = found.setdefault(min(origin), [])
                lane.append(address(dataset, stage))
                if dataset in graph.cells or f"{dataset}-{stage}" in checked:
                    lane.append(check_address(dataset, stage))
    return sorted(found.values(), key=len, reverse=True)


def new_lanes(root: Path, graph: Graph) -> list[list[str]]:
    """Return the lanes with a stage that has never run here; empty when there are not two of them."""
    try:
        locked = set((yaml.load((root / "dvc.lock").read_text(encoding="utf-8"), YAML_LOADER) or {}).get("stages") or {})
    except (OSError, yaml.YAMLError, AttributeError):
        locked = set()
    new = [lane for lane in lanes(graph) if not locked.issuperset(lane)]
    return new if len(new) > 1 else []
