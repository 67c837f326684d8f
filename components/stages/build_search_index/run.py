"""Run build_search_index: embed the images, build both indexes and write the page."""

from __future__ import annotations

from components.execution.stage import Stage
from components.stages.build_search_index.building import build
from components.stages.build_search_index.page import write_page


def run(stage: Stage) -> None:
    """Embed each split in a job, and write the index, the records and the page."""
    built = build(stage)
    if stage.params.page.queries:
        write_page(stage, built)
