"""The page people look at: one file that needs no other, no network and no script."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from components.reporting.pages import render
from components.stages.evaluate_retrieval import drawing, paper
from components.stages.evaluate_retrieval.claims import FAILS, HOLDS, UNMEASURED, UNTOLD, verdict
from components.stages.evaluate_retrieval.facts import RetrievalResults
from components.stages.evaluate_retrieval.scoring import WAYS
from components.stages.evaluate_retrieval.values import DEFINITIONS, HIT, SHARE, Cell

DIRECTIONS = {"speech_to_image": "Speech to image", "image_to_speech": "Image to speech"}
CROPS = {"centre": "the centre of each picture", "whole": "whole pictures"}
MARKS = {HOLDS: "yes", FAILS: "no", UNTOLD: "open", UNMEASURED: "none"}
"""Verdict → the class that colours it; the words tell it, too."""


def html(results: RetrievalResults, warnings: Sequence[str] = ()) -> str:
    """Return the page."""
    papers = dict.fromkeys(table for row in results.rows if (table := paper.table_of(row.name)))
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
        papers={table: (paper.TITLES[table], paper.TABLES[table]) for table in papers},
        paper_depths=paper.DEPTHS,
        reported=paper.reported,
        dots=drawing.dots(results),
        curves=drawing.curves(results),
        starts=drawing.STARTS,
        depth=drawing.headline(results),
        marks=MARKS,
        verdict=verdict,
    )
