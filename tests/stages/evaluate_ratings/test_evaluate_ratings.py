"""The stage: tables in all forms, rated items with their records, and the automatic figures of the same captions and queries."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.stages.check import check
from tests.stages.evaluate_ratings.rated_world import DUAL, MODEL, VOTES, evaluated, rows
from tests.support import PROJECT
from tests.support.ratings.rated import key


def test_tables_have_the_shares_recalls_and_automatic_figures_of_the_same_pairs(tmp_path: Path) -> None:
    told = rows(evaluated(tmp_path))
    captions, model = told["dataset/english"], told[f"model/{MODEL}"]
    # r3 has two of three ratings; r1 and r2 are one pair.
    assert (captions["counted"], captions["incomplete"]) == (4, 1)
    assert [captions["figures"][f"good_{k}_of_3"]["mean"] for k in (1, 2, 3)] == [1.0, 0.5, 0.25]
    assert captions["paper"] == {"good_2_of_3": 0.903}
    assert model["automatic"] == {"cider_d": 0.5, "rouge_l": 0.0} and model["paper"]["good_2_of_3"] == 0.506
    assert told["truth/english/whole"]["figures"]["good_5_of_5"]["mean"] == 1.0
    assert told["truth/english/centre"]["paper"]["good_5_of_5"] == 0.625
    found = told[f"retrieval/{DUAL}/speech_to_image"]
    assert {name: value["mean"] for name, value in found["figures"].items() if name != "alpha"} == {
        "human_r_at_1": 0.5, "human_matches_of_5": 0.2, "human_r_at_5": 0.5, "known_r_at_1": 0.5, "known_r_at_5": 1.0
    }  # fmt: skip
    assert found["automatic"] == {"all_known_r_at_1": 0.1, "all_known_r_at_5": 0.5}
    assert found["paper"] == {"human_r_at_1": 0.229, "human_matches_of_5": 0.522, "known_r_at_1": 0.139, "known_r_at_5": 0.368}


def test_rated_items_name_their_records_and_incomplete_ones_are_ledger_rows(tmp_path: Path) -> None:
    stage = evaluated(tmp_path)
    output = StageOutput(stage.out)
    rated = {r["key"]: r for r in output.table().to_pylist()}
    assert rated[key(1)]["records"] == ["r1", "r2"] and (rated[key(1)]["good"], rated[key(1)]["ratings"]) == (1, 3)
    assert rated[key(3)]["records"] == rated[key(6)]["records"] == [] and key(2) not in rated
    dropped = [r for r in output.ledger().to_pylist() if r["verdict"] == "dropped"]
    assert [(r["key"], r["rule"], r["value"], r["threshold"]) for r in dropped] == [(key(2), "too_few_ratings", "2", "3")]
    (tmp_path / "expectations").symlink_to(PROJECT / "expectations")
    assert check(tmp_path, "english", "evaluate_ratings")


def test_a_setting_accepts_fewer_ratings(tmp_path: Path) -> None:
    captions = rows(evaluated(tmp_path, min_ratings=2))["dataset/english"]
    assert (captions["counted"], captions["incomplete"]) == (5, 0)


def test_the_page_shows_every_table_the_papers_figures_and_warnings(tmp_path: Path) -> None:
    stage = evaluated(tmp_path / "quiet")
    page = StageOutput(stage.out).file("ratings.html").read_text()
    for text in ("CC table 2", "CC table 4", "CSC table 3", "CSC table 4", "paper 0.229", "matches of 5", MODEL, "0.500"):
        assert text in page
    loud = evaluated(tmp_path / "loud", warned=True)
    assert "found &lt;0.7&gt;" in StageOutput(loud.out).file("ratings.html").read_text()


def test_one_rater_gives_tables_without_agreement(tmp_path: Path) -> None:
    items = {number: letters[0] for number, letters in VOTES.items()}
    stage = evaluated(tmp_path, items, automatic=False, min_ratings=1)
    assert all("alpha" not in told["figures"] for told in rows(stage).values())
    output = StageOutput(stage.out)
    assert "not defined" in output.file("summary.txt").read_text()
    assert "One person rated everything" in output.file("ratings.html").read_text()


def test_csv_plot_metrics_and_rows_have_the_figures_of_the_json(tmp_path: Path) -> None:
    stage = evaluated(tmp_path)
    table = list(csv.DictReader(io.StringIO(StageOutput(stage.out).file("table.csv").read_text())))
    assert any(r["figure"] == "good_2_of_3" and r["paper"] == "0.903000" and r["value"] == "0.500000" for r in table)
    told = {(source, figure): value for source, figures in stage.scores for figure, value in figures.items()}
    assert told["", "human/good_2_of_3"] == 0.5 and told[DUAL, "human/speech_to_image/human_r_at_1"] == 0.5
    compared = json.loads((tmp_path / "reports/english/evaluate_ratings.json").read_text())["english"]
    assert compared["dataset"]["english"] == {"good_by_majority": 0.5}
    assert "dataset/english,0.500000" in (tmp_path / "reports/english/ratings.csv").read_text()


def test_equal_inputs_give_equal_outputs(tmp_path: Path) -> None:
    digests = {StageOutput(evaluated(tmp_path / name).out).digest for name in ("one", "two")}
    assert len(digests) == 1


@pytest.mark.parametrize(("name", "value"), [("min_ratings", -1), ("resamples", 0), ("caption_raters", 0)])
def test_settings_out_of_range_are_refused(tmp_path: Path, name: str, value: int) -> None:
    with pytest.raises(HearsightError, match=name):
        evaluated(tmp_path, VOTES, True, **{name: value})
