"""The HTML page of the ratings: one self-contained file without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from components.ratings.tables import paper
from components.ratings.tables.uses import DATASET, MODEL, TRUTH
from components.reporting.pages import render
from components.stages.evaluate_ratings.files import NOT_DEFINED, paper_figure, paper_shares
from components.stages.evaluate_ratings.results import RatingResults

TITLES = {
    DATASET: ("captions", "Captions of the dataset", "CC table 2"),
    MODEL: ("models", "Captions of models", "CC table 4"),
    TRUTH: ("truth", "Known pairs, whole and cropped", "CSC table 3"),
}
"""Table of shares → its place on the page, its title, and the paper's table."""
DIRECTIONS = {"speech_to_image": "speech to image", "image_to_speech": "image to speech"}


def render_page(results: RatingResults, warnings: Sequence[str] = ()) -> str:
    """Return the page."""
    return render(
        Path(__file__).parent / "data",
        "ratings.html",
        warnings=warnings,
        results=results,
        tables=[(table, *title, results.rows_of(table)) for table, title in TITLES.items() if results.rows_of(table)],
        directions=DIRECTIONS,
        paper_shares=paper_shares,
        paper_figure=paper_figure,
        coco={network: shares for (training, network), shares in paper.CC_TABLE_4.items() if training == "coco"},
        not_defined=NOT_DEFINED,
    )
