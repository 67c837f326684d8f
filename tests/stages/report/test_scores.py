"""The report's retrieval scores."""

from __future__ import annotations

from components.stages.report.pages import captioner_rows, score_rows
from tests.support.report import captioner_scores, scores


def test_each_row_has_its_seeds_its_interval_and_the_chance_of_its_direction() -> None:
    result = dict(score_rows(scores()))
    assert len(result) == 2 * 2 * 3
    assert result["triplet-48 image to speech R@10"] == "0.250 (95 % interval 0.125–0.500; seeds 0.000, 0.500); chance 0.100"


def test_the_interval_decides_whether_a_score_is_better_than_chance_and_one_seed_is_not_listed() -> None:
    made = scores()
    made["retrieval"]["models"] = {"mms-48-0": made["retrieval"]["models"]["mms-48-0"]}
    made["retrieval"]["chance"]["speech_to_image"] = dict.fromkeys(made["retrieval"]["chance"]["speech_to_image"], 0.125)
    result = dict(score_rows(made))
    better, worse = result["mms-48 image to speech R@10"], result["mms-48 speech to image R@10"]
    assert better == "0.250 (95 % interval 0.125–0.500); chance 0.100"
    assert worse == "0.250 (95 % interval 0.125–0.500); chance 0.125; not better than chance"


def test_each_captioner_has_its_score_on_every_test_split_and_the_constant_caption_is_last() -> None:
    assert captioner_rows(captioner_scores()) == {
        "english-rnn1x1": ["0.250 (0.125 to 0.500)", "0.000"],
        "cleaned-rnn1x1": ["0.250 (0.125 to 0.500)", "–"],
        "constant caption": ["0.250 (0.125 to 0.500)", "–"],
    }
