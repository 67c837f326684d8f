"""Records, scores, tables and caches of an evaluation."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from typing import Any

import pytest
from typer.testing import CliRunner

from components.cli.main import app
from components.core.stage_output import StageOutput
from components.stages.check import check
from components.stages.evaluate_captioners.inputs import read_set
from tests.stages.evaluate_captioners.running import compared
from tests.stages.evaluate_captioners.world import (
    COLOURS,
    cell,
    prepared,
    squares,
)
from tests.support import PROJECT, leave_warning, make_output
from tests.support.settings_files import copy_settings


def scores_of(output: StageOutput) -> dict[str, Any]:
    """The full table of scores."""
    return json.loads(output.file("scores.json").read_text())


@pytest.mark.long
def test_a_warning_of_an_input_appears_once_on_the_page(evaluated):
    page = evaluated[2][0].file("compare.html").read_text()
    assert page.count("found &lt;0.7&gt;") == 1


@pytest.mark.long
def test_every_model_is_tried_on_every_test_image_once(evaluated):
    _, inputs, (stage_output, _, _) = evaluated
    rows = stage_output.table().to_pylist()
    models = [row["key"] for name, result in inputs.items() if "-" in name for row in result.table().to_pylist()]
    assert len(rows) == 3 * len(models) * 4 == len({(row["key"], row["test"], row["model"]) for row in rows})
    own = [row for row in rows if row["model"] == "english-small8x8-0" and row["test"] == "english"]
    assert [row["output"] for row in own] == [f"a {colour} square" for colour in COLOURS[4:]]
    assert all(row["rouge_l"] == pytest.approx(1.0) for row in own) and own[0]["cider_d"] == pytest.approx(7.5)
    assert own[-1]["references"] == ["a grey square", "one square that is grey"]
    # Whoever learned from the cleaned alt-texts names a person that no reference of the other test set knows.
    assert all((row["objects"] is None) == ("portuguese" in (row["training"], row["test"])) for row in rows)
    assert {(row["training"], row["test"]) for row in rows if "john" in row["unsupported"]} == {("cleaned", "english")}


def test_the_check_lets_the_output_pass(evaluated, tmp_path):
    shutil.copytree(PROJECT / "expectations", tmp_path / "expectations")
    shutil.copytree(evaluated[2][0].path, tmp_path / "data" / "captioners" / "evaluate_captioners")
    assert len(check(tmp_path, "captioners", "evaluate_captioners").passed) >= 10


def test_scores_are_means_over_seeds_with_deviation_and_an_interval_around_them(evaluated):
    _, _, (stage_output, _, stage) = evaluated
    scores = scores_of(stage_output)
    main = stage.main_figures.values
    assert {f"{name}-{network}": values for name, each in main.items() for network, values in each.items()} == {
        name: {"cider_d": cell["cider_d"]["mean"]}
        for test, table in scores.items() if "cells" in table
        for name, cell in table["cells"].items() if name.startswith(f"{test}-")
    }  # fmt: skip
    rows = stage_output.table().to_pylist()
    for test, table in ((name, scores[name]) for name in ("english", "cleaned", "portuguese")):
        for name, result in table["cells"].items():
            of = [row for row in rows if row["test"] == test and row["model"].startswith(f"{name}-")]
            assert result["cider_d"]["mean"] == pytest.approx(sum(row["cider_d"] for row in of) / len(of), abs=1e-6)
            assert result["cider_d"]["low"] <= result["cider_d"]["mean"] <= result["cider_d"]["high"]
            seeds = [table["models"][f"{name}-{seed}"]["cider_d"] for seed in (0, 1)]
            assert result["cider_d"]["sd"] == pytest.approx(abs(seeds[0] - seeds[1]) / math.sqrt(2), abs=2e-6)
    assert "low" not in scores["english"]["cells"]["english-small1x1"]["bleu_4"]


def test_the_constant_caption_comes_from_the_training_split_alone(evaluated):
    scores = scores_of(evaluated[2][0])
    assert scores["english"]["constant"]["caption"] in {f"a {colour} square" for colour in COLOURS[:4]}
    # Four images of a colour each: what all captions share weighs nothing, and the colour is never right.
    assert scores["english"]["constant"]["cider_d"]["mean"] == 0.0 < scores["english"]["constant"]["rouge_l"]["mean"]


def test_two_caption_sets_of_the_same_images_are_each_evaluated_against_both(evaluated):
    scores = scores_of(evaluated[2][0])
    result = scores["english less cleaned"]
    assert set(scores) == {"english", "cleaned", "portuguese", "english less cleaned", "about"}
    assert set(result) == {"english", "cleaned"} and set(result["english"]) == {"small1x1", "small8x8"}
    assert result["english"]["small8x8"]["low"] > 0 > result["cleaned"]["small1x1"]["high"]


def test_the_plot_has_each_cell_on_its_set_and_the_cross_table_all_pairs(evaluated):
    stage_output, exported, _ = evaluated[2]
    own = list(csv.DictReader(io.StringIO(exported["table.csv"])))
    assert [row["model"] for row in own] == sorted(
        {row["model"] for row in own}, key=["english-small1x1", "english-small8x8", "cleaned-small1x1", "cleaned-small8x8",
                                            "portuguese-small1x1"].index
    )  # fmt: skip
    assert all(row["training"] == row["test"] and float(row["cider_d"]) >= 0 for row in own) and len(own) == 5
    assert len(list(csv.DictReader(io.StringIO(stage_output.file("cross.csv").read_text())))) == 15


def test_every_model_has_its_scores_on_every_test_set_and_the_stage_each_cells_on_its_own(evaluated):
    stage = evaluated[2][2]
    result = {name: value for name, value, _ in stage.metrics}
    assert len(result) == len(stage.metrics) and all(math.isfinite(value) for value in result.values())
    assert {"english/english-small1x1/cider_d", "english/constant/cider_d"} <= set(result)
    assert "english/cleaned-small1x1/cider_d" not in result
    told = dict(stage.scores)
    scores = scores_of(evaluated[2][0])
    assert set(told) == set(scores["english"]["models"])
    for model, values in told.items():
        for test in ("english", "cleaned", "portuguese"):
            assert values[f"test/{test}/cider_d"] == pytest.approx(scores[test]["models"][model]["cider_d"], abs=1e-6)
        assert values["cider_d"] == values[f"test/{model.partition('-')[0]}/cider_d"], "on its own set"


def test_the_scores_hold_the_lengths_and_objects_of_cells_and_references(evaluated):
    result = scores_of(evaluated[2][0])["english"]["writing"]
    assert result["references"]["words"] == pytest.approx(scores_of(evaluated[2][0])["english"]["words"])
    assert result["cleaned-small8x8"]["objects_unsupported"] >= 4 and "objects" not in result["references"]


def test_a_second_run_computes_nothing_and_a_new_cell_only_itself(evaluated, tmp_path):
    root, inputs, (stage_output, _, _) = evaluated
    again, _, stage = compared(root, inputs)
    assert again.digest == stage_output.digest
    assert stage.cache_summary() == {"captions": "30 of 30", "constant": "3 of 3", "scores": "33 of 33"}
    more = inputs | {"portuguese-small8x8": cell(root, "portuguese", "small8x8", {0: {n: f"{n} vezes" for n in range(8)}})}
    _, _, stage = compared(root, more)
    assert stage.cache_summary() == {"captions": "30 of 33", "constant": "3 of 3", "scores": "33 of 36"}


def test_an_image_with_forty_captions_is_one_item_of_forty_references(tmp_path):
    captions = [[f"a {colour} square"] for colour in COLOURS[:5]] + [[f"caption {n} of it" for n in range(40)] * 2]
    result = read_set("input", prepared(tmp_path, "coco", captions))
    assert [len(item.references) for item in result.items] == [1, 40] and result.references == 41
    assert result.items[1].references[7] == " ".join(result.items[1].words[7])


def test_a_set_without_a_training_split_has_no_constant_caption(tmp_path):
    inputs = {"input": prepared(tmp_path, "english", squares(), test_from=0)}
    inputs["english-small1x1"] = cell(tmp_path, "english", "small1x1", {0: dict.fromkeys(range(8), "a red square")})
    stage_output, _, stage = compared(tmp_path, inputs)
    assert "constant" not in scores_of(stage_output)["english"]
    summary = stage_output.file("summary.txt").read_text()
    assert "constant" not in summary and "±" not in summary and "The interval is over images" in summary
    assert not any("_sd" in name and "words" not in name for name, _, _ in stage.metrics)


def test_show_prints_the_summary_and_where_the_page_is(evaluated, tmp_path, monkeypatch):
    stage_output = evaluated[2][0]
    copy_settings(tmp_path)
    shutil.copytree(stage_output.path, tmp_path / "data" / "captioners" / "evaluate_captioners")
    monkeypatch.setenv("HEARSIGHT_ROOT", str(tmp_path))
    line = leave_warning(make_output(tmp_path, "extract_features", [[]]))
    shown = CliRunner().invoke(app, ["show", "--dataset", "captioners"])
    assert line in shown.output
    assert shown.exit_code == 0, shown.output
    assert "± is over seeds. The interval is over images" in shown.output
    assert "CIDEr-D on english (4 images, 5 references)" in shown.output and "compare.html" in shown.output
