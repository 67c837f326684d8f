"""The report's retrieval scores and their figure."""

from __future__ import annotations

from typing import Any

from components.stages.report.facts import RunReport
from components.stages.report.figures import draw_all
from components.stages.report.pages import score_rows

WAYS = ("speech_to_image", "image_to_speech")


def scores() -> dict[str, Any]:
    """Scores of two rows, as ``evaluate_retrieval`` writes them."""
    depths = ("r_at_1", "r_at_10", "r_at_5", "r_at_50", "share_at_1")
    value = {"value": 0.25, "low": 0.125, "high": 0.5}
    rows = {row: {"centre": {way: dict.fromkeys(depths, value) for way in WAYS}} for row in ("mms-48", "triplet-48")}
    models = {f"{row}-{n}": {"centre": {way: dict.fromkeys(depths, n / 4) for way in WAYS}} for row in rows for n in (0, 2)}
    chance = {way: dict.fromkeys(depths, 0.05 * (n + 1)) for n, way in enumerate(WAYS)}
    return {"retrieval": {"crop": "centre", "main": "mms-48", "rows": rows, "models": models, "chance": chance}}


def test_each_row_has_its_seeds_its_interval_and_the_chance_of_its_direction() -> None:
    result = dict(score_rows(scores()))
    assert len(result) == 2 * 2 * 3
    assert result["triplet-48 image to speech R@10"] == "0.250 (95 % interval 0.125–0.500; seeds 0.000, 0.500); chance 0.100"


def test_the_figure_is_drawn_and_equal_scores_give_equal_bytes() -> None:
    def drawn() -> bytes:
        report = RunReport("english", scores=scores())
        return {key: picture for key, _, picture in draw_all(report)}["retrieval"]

    assert drawn() == drawn() and drawn().startswith(b"\x89PNG")
