"""What a release is made of: the finished split and the outputs before it, each of the very run the next came from."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.addresses import lineage_path
from components.core.errors import HearsightError
from components.core.stage_output import StageOutput

STAGES = ("filter", "hypernymize", "dedup", "split")
"""The stages whose settings made a release of pages what it is, in order."""
STAGES_OF_POSTS = ("crawl", "extract_descriptions", "dedup", "split")
"""The same for posts; a release of them holds the crawl's pictures too."""
DESCRIBES = "extract_descriptions"
"""The stage that makes a dataset one of posts."""


@dataclass(frozen=True)
class Made:
    """The outputs a release is made of, each of the very run that the next was made from."""

    dataset: str
    split: StageOutput
    concepts: StageOutput
    settings: dict[str, Any]
    """``<dataset>/<stage>`` → its parameters, of every stage from the filter to the split."""


@dataclass(frozen=True)
class MadePosts:
    """The outputs a release of posts is made of."""

    dataset: str
    stages: dict[str, StageOutput]
    """Stage → its output, from the crawl to the split."""
    settings: dict[str, dict[str, Any]]
    """Stage → its parameters."""

    @property
    def split(self) -> StageOutput:
        """The split."""
        return self.stages["split"]

    @property
    def crawl(self) -> StageOutput:
        """The crawl, which holds the pictures."""
        return self.stages["crawl"]


def is_of_posts(root: Path, dataset: str) -> bool:
    """Whether the chain leads to the dataset's split through ``describe``.

    Raises:
        HearsightError: the dataset has no split.
    """
    from components.core.graph import load_graph

    graph = load_graph(root)
    graph.require("split", dataset)
    at = f"{dataset}/split"
    seen: set[str] = set()
    while at and at not in seen:
        seen.add(at)
        name, _, stage = at.partition("/")
        if stage == DESCRIBES:
            return True
        at = str((graph.chain.get(stage, {}).get(name) or {}).get("input") or "")
    return False


def find_parts(root: Path, dataset: str) -> Made:
    """The finished split of a dataset of pages, and the outputs before it that it came from.

    Raises:
        HearsightError: one is not finished or did not pass its check, or is of another run than the one after it came from.
    """
    stages, settings = _back(root, dataset, STAGES)
    concepts = stages.get("hypernymize")
    if concepts is None:
        raise HearsightError(
            "comes from no hypernymize stage", where=stages["split"].path, hint="release a dataset whose chain takes it"
        )
    return Made(dataset, stages["split"], concepts, {stages[name].name: settings[name] for name in stages})


def find_posts(root: Path, dataset: str) -> MadePosts:
    """The same for a dataset of posts; errors as for :func:`find_parts`."""
    stages, settings = _back(root, dataset, STAGES_OF_POSTS)
    if lacks := [name for name in STAGES_OF_POSTS if name not in stages]:
        raise HearsightError(
            f"comes from no {lacks[0]} stage", where=stages["split"].path, hint="release a dataset whose chain takes it"
        )
    return MadePosts(dataset, stages, settings)


def _back(root: Path, dataset: str, named: Collection[str]) -> tuple[dict[str, StageOutput], dict[str, dict[str, Any]]]:
    """From the split back along the lineages, while the stage is one of ``named``; stage → output and parameters, in order."""
    from components.core.gates import require_passed
    from components.core.graph import load_graph

    graph = load_graph(root)
    graph.require("split", dataset)
    found = StageOutput(graph.output("split", dataset))
    require_passed(root, found)
    stages: dict[str, StageOutput] = {}
    settings: dict[str, dict[str, Any]] = {}
    while found.path.name in named:
        lineage = _lineage(found)
        stages[found.path.name], settings[found.path.name] = found, lineage["params"]
        before = next((parent for parent in lineage["parents"] if parent["name"] == "input"), None)
        if before is None:
            break
        earlier = StageOutput(root / "data" / before["output"])
        if earlier.path.name in named and earlier.digest != before["manifest_sha256"]:
            raise HearsightError(
                f"is not the output that {found.name} was made from", where=earlier.path, hint=f"run `dvc repro split@{dataset}`"
            )
        found = earlier
    return dict(reversed(stages.items())), dict(reversed(settings.items()))


def _lineage(stage_output: StageOutput) -> dict[str, Any]:
    _ = stage_output.manifest
    path = lineage_path(stage_output.path)
    try:
        content = json.loads(path.read_bytes())
        assert isinstance(content["params"], dict)
        assert all(isinstance(parent, dict) for parent in content["parents"])
    except (OSError, ValueError, KeyError, TypeError, AssertionError):
        stage, dataset = stage_output.path.name, stage_output.path.parent.name
        raise HearsightError(
            "does not tell what it was made from", where=path, hint=f"run `dvc repro --force -s {stage}@{dataset}`"
        ) from None
    return dict(content)
