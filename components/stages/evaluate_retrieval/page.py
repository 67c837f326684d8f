"""The HTML page of the evaluation: one self-contained file without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from components.reporting.pages import render
from components.stages.evaluate_retrieval import drawing, paper
from components.stages.evaluate_retrieval.claims import FAILS, HOLDS, UNDECIDED, UNMEASURED, verdict
from components.stages.evaluate_retrieval.facts import RetrievalResults
from components.stages.evaluate_retrieval.scoring import WAYS
from components.stages.evaluate_retrieval.values import DEFINITIONS, HIT, SHARE, Cell

DIRECTIONS = {"speech_to_image": "Speech to image", "image_to_speech": "Image to speech"}
CROPS = {"centre": "the centre of each picture", "whole": "whole pictures"}
MARKS = {HOLDS: "yes", FAILS: "no", UNDECIDED: "open", UNMEASURED: "none"}
"""Verdict → its CSS class."""


def render_page(results: RetrievalResults, warnings: Sequence[str] = ()) -> str:
    """Return the page."""
    paper_tables = dict.fromkeys(table for row in results.rows if (table := paper.table_of(row.name)))
    return render(
        Path(__file__).parent / "data",
        "retrieval.html",
        warnings=warnings,
        results=results,
        ways=WAYS,
        directions=DIRECTIONS,
        crops=CROPS,
        cell=Cell,
        definitions=DEFINITIONS,
        hit=HIT,
        part=SHARE,
        best=results.best,
        paper_tables={table: (paper.TITLES[table], paper.TABLES[table]) for table in paper_tables},
        paper_depths=paper.DEPTHS,
        reported=paper.reported,
        dots=drawing.dot_plots(results),
        curves=drawing.curve_plots(results),
        starts=drawing.STARTS,
        depth=drawing.main_depth(results),
        marks=MARKS,
        verdict=verdict,
    )
