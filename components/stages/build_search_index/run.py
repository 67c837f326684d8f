"""Run build_search_index: embed the images, build both indexes and write the page."""

from __future__ import annotations

from components.core.errors import HearsightError
from components.execution.stage import Stage
from components.stages.build_search_index import SPLITS, Params
from components.stages.build_search_index.building import build
from components.stages.build_search_index.page import write_page


def run(stage: Stage) -> None:
    """Embed each split in a job, and write the index, the records and the page."""
    _check_settings(stage)
    built = build(stage)
    if stage.params.page.queries:
        write_page(stage, built)


def _check_settings(stage: Stage) -> None:
    params: Params = stage.params
    where = f"params.yaml: {stage.dataset}.build_search_index"
    if not params.splits or not set(params.splits) <= set(SPLITS) or len(set(params.splits)) < len(params.splits):
        what = "is empty, or has an unknown or repeated split"
        raise HearsightError(what, where=f"{where}.splits", hint=f"list some of {', '.join(SPLITS)}, each once")
    if params.page.split not in params.splits:
        what = f"'{params.page.split}' is not indexed"
        raise HearsightError(what, where=f"{where}.page.split", hint=f"use one of {', '.join(params.splits)}")
    if params.page.queries < 0 or params.page.neighbours < 1:
        raise HearsightError("needs queries >= 0 and neighbours >= 1", where=f"{where}.page", hint="raise the value")
