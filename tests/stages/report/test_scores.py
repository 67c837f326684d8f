"""The report's retrieval scores."""

from __future__ import annotations

from components.stages.report.pages import score_rows
from tests.support.report import scores


def test_each_row_has_its_seeds_its_interval_and_the_chance_of_its_direction() -> None:
    result = dict(score_rows(scores()))
    assert len(result) == 2 * 2 * 3
    assert result["triplet-48 image to speech R@10"] == "0.250 (95 % interval 0.125–0.500; seeds 0.000, 0.500); chance 0.100"
