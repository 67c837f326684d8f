"""The report's retrieval scores and their figure."""

from __future__ import annotations

from components.stages.report.facts import RunReport
from components.stages.report.figures import draw_all
from components.stages.report.pages import score_rows
from tests.support.report import scores


def test_each_row_has_its_seeds_its_interval_and_the_chance_of_its_direction() -> None:
    result = dict(score_rows(scores()))
    assert len(result) == 2 * 2 * 3
    assert result["triplet-48 image to speech R@10"] == "0.250 (95 % interval 0.125–0.500; seeds 0.000, 0.500); chance 0.100"


def test_the_figure_is_drawn_and_equal_scores_give_equal_bytes() -> None:
    def drawn() -> bytes:
        report = RunReport("english", scores=scores())
        return {key: image for key, _, image in draw_all(report)}["retrieval"]

    assert drawn() == drawn() and drawn().startswith(b"\x89PNG")
