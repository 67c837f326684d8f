"""Judge a sample of a dataset's kept captions: write the page that shows it, and save the verdicts."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from components.core.addresses import STATE
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import Graph, load_graph
from components.core.manifest import NAME as MANIFEST
from components.core.stage_output import StageOutput
from components.ratings.precision import draw_kept, judge, read_verdicts, verdicts_path
from components.reporting.kept_captions import KeptCaptions, show_kept
from components.reporting.pages import SHARED, render

STAGE = "split"
"""The stage whose records are a dataset's kept captions."""


def judge_kept(root: Path, dataset: str, wrong: Collection[int] | None) -> tuple[KeptCaptions, Path]:
    """Save the verdicts on the sample, unless ``wrong`` is None; write its page and return both.

    Args:
        wrong: the numbers of the wrong captions; every other one of the sample is right.

    Raises:
        HearsightError: the dataset has no finished split, or a number is not on the page.
    """
    graph = load_graph(root)
    graph.require(STAGE, dataset)
    output = StageOutput(graph.output(STAGE, dataset))
    if not (output.path / MANIFEST).is_file():
        raise HearsightError("is not finished", where=output.path, hint=f"run `dvc repro {STAGE}@{dataset}`")
    verdicts = verdicts_path(root, dataset)
    if wrong is not None:
        judge(draw_kept(output), wrong, verdicts)
    kept = show_kept(output, _crawl(graph, dataset), read_verdicts(verdicts))
    page = root / STATE / "work" / dataset / "judge" / "kept.html"  # a purge after a takedown deletes it
    publish_bytes(page, render(SHARED, "judge.html", dataset=dataset, kept=kept).encode())
    return kept, page


def _crawl(graph: Graph, dataset: str) -> StageOutput:
    """Return the crawl that a dataset's split descends from, which holds its images."""
    name, stage = dataset, STAGE
    while stage != "crawl":
        source = graph.inputs(stage, name)["input"]
        name, stage = source.parent.relative_to(graph.root / "data").as_posix(), source.name
    return StageOutput(graph.output(stage, name))
