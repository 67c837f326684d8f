"""From prepared sets and captioners to tables: what is counted, what is kept, what is said of what does not fit."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from components.cli.main import app
from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.metrics.caption_lengths import word_counts
from components.metrics.intervals import bootstrap_intervals
from components.stages import evaluate_captioners
from components.stages.check import check
from components.stages.evaluate_captioners.analyses import writing_of, written_by_people
from components.stages.evaluate_captioners.inputs import open_inputs, read_set
from components.stages.evaluate_captioners.scoring import Scored, Scores, Things, caption_scores, scored_words
from components.stages.evaluate_captioners.training_captions import UNTOLD, Learnt, read_learnt
from tests.stages.evaluate_captioners.world import (
    COLOURS,
    ENCODER,
    PARAMS,
    cell,
    features_of,
    prepared,
    small_networks,
    squares,
    world,
)
from tests.support import PROJECT, leave_warning, make_stage


@pytest.fixture(autouse=True, scope="module")
def networks() -> Iterator[None]:
    with small_networks():
        yield


def compared(
    root: Path, inputs: dict[str, StageOutput], params: evaluate_captioners.Params = PARAMS
) -> tuple[StageOutput, dict[str, str], Any]:
    stage = make_stage(root, "evaluate_captioners", "captioners", params, inputs)
    exported: dict[str, str] = {}
    stage.export = lambda name, data: exported.__setitem__(name, data.decode())  # type: ignore[method-assign]
    evaluate_captioners.run(stage)
    stage.finish()
    return StageOutput(stage.out), exported, stage


@pytest.fixture(scope="module")
def whole(networks: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, StageOutput], Any]:
    root = tmp_path_factory.mktemp("whole")
    inputs = world(root)
    leave_warning(inputs["input"])
    return root, inputs, compared(root, inputs)


def test_a_warning_of_an_input_is_on_the_page_once(whole):
    page = whole[2][0].file("compare.html").read_text()
    assert page.count("found &lt;0.7&gt;") == 1


def test_every_model_is_tried_on_every_test_picture_once(whole):
    _, inputs, (stage_output, _, _) = whole
    rows = stage_output.table().to_pylist()
    models = [row["key"] for name, found in inputs.items() if "-" in name for row in found.table().to_pylist()]
    assert len(rows) == 3 * len(models) * 4 == len({(row["key"], row["test"], row["model"]) for row in rows})
    own = [row for row in rows if row["model"] == "english-small8x8-0" and row["test"] == "english"]
    assert [row["output"] for row in own] == [f"a {colour} square" for colour in COLOURS[4:]]
    assert all(row["rouge_l"] == pytest.approx(1.0) for row in own) and own[0]["cider_d"] == pytest.approx(7.5)
    assert own[-1]["references"] == ["a grey square", "one square that is grey"]
    # Whoever learned from the cleaned alt-texts names a person that no reference of the other test set knows.
    assert all((row["things"] is None) == ("portuguese" in (row["training"], row["test"])) for row in rows)
    assert {(row["training"], row["test"]) for row in rows if "john" in row["unseen"]} == {("cleaned", "english")}


def test_the_check_lets_the_output_pass(whole, tmp_path):
    shutil.copytree(PROJECT / "expectations", tmp_path / "expectations")
    shutil.copytree(whole[2][0].path, tmp_path / "data" / "captioners" / "evaluate_captioners")
    assert check(tmp_path, "captioners", "evaluate_captioners").expectations >= 10


def test_scores_are_means_over_seeds_with_their_spread_and_an_interval_that_holds_them(whole):
    _, _, (stage_output, exported, _) = whole
    scores = json.loads(exported["scores.json"])
    assert scores == json.loads(stage_output.file("scores.json").read_text())
    rows = stage_output.table().to_pylist()
    for test, table in ((name, scores[name]) for name in ("english", "cleaned", "portuguese")):
        for name, told in table["cells"].items():
            of = [row for row in rows if row["test"] == test and row["model"].startswith(f"{name}-")]
            assert told["cider_d"]["mean"] == pytest.approx(sum(row["cider_d"] for row in of) / len(of), abs=1e-6)
            assert told["cider_d"]["low"] <= told["cider_d"]["mean"] <= told["cider_d"]["high"]
            seeds = [table["models"][f"{name}-{seed}"]["cider_d"] for seed in (0, 1)]
            assert told["cider_d"]["sd"] == pytest.approx(abs(seeds[0] - seeds[1]) / math.sqrt(2), abs=2e-6)
    assert "low" not in scores["english"]["cells"]["english-small1x1"]["bleu_4"]


def test_the_constant_caption_comes_from_the_training_split_alone(whole):
    scores = json.loads(whole[2][1]["scores.json"])
    assert scores["english"]["constant"]["caption"] in {f"a {colour} square" for colour in COLOURS[:4]}
    # Four pictures of a colour each: what all captions share weighs nothing, and the colour is never right.
    assert scores["english"]["constant"]["cider_d"]["mean"] == 0.0 < scores["english"]["constant"]["rouge_l"]["mean"]


def test_two_wordings_of_the_same_pictures_are_held_against_each_other_on_both(whole):
    scores = json.loads(whole[2][1]["scores.json"])
    found = scores["english less cleaned"]
    assert set(scores) == {"english", "cleaned", "portuguese", "english less cleaned"}
    assert set(found) == {"english", "cleaned"} and set(found["english"]) == {"small1x1", "small8x8"}
    assert found["english"]["small8x8"]["low"] > 0 > found["cleaned"]["small1x1"]["high"]


def test_the_plot_has_each_cell_on_its_own_set_and_the_cross_table_has_all(whole):
    stage_output, exported, _ = whole[2]
    own = list(csv.DictReader(io.StringIO(exported["table.csv"])))
    assert [row["model"] for row in own] == sorted(
        {row["model"] for row in own}, key=["english-small1x1", "english-small8x8", "cleaned-small1x1", "cleaned-small8x8",
                                            "portuguese-small1x1"].index
    )  # fmt: skip
    assert all(row["training"] == row["test"] and float(row["cider_d"]) >= 0 for row in own) and len(own) == 5
    assert len(list(csv.DictReader(io.StringIO(stage_output.file("cross.csv").read_text())))) == 15


def test_the_tracker_is_told_every_cell_under_names_that_make_one_table(whole):
    stage = whole[2][2]
    told = {name: value for name, value, _ in stage.metrics}
    assert len(told) == len(stage.metrics)
    assert {"english/cleaned-small1x1/cider_d", "english/cleaned-small1x1/cider_d_sd", "english/constant/bleu_4"} <= set(told)
    assert "english/constant/bleu_4_sd" not in told and all(math.isfinite(value) for value in told.values())


def test_writing_in_the_scores_stands_beside_the_references(whole):
    found = json.loads(whole[2][1]["scores.json"])["english"]["writing"]
    assert found["english-small1x1"]["new_captions"] == 1.0  # the test pictures' colours are none of the training split
    assert found["references"]["words"] == pytest.approx(json.loads(whole[2][1]["scores.json"])["english"]["words"])
    assert found["cleaned-small8x8"]["things_unseen"] >= 4 and "things" not in found["references"]


def test_a_second_run_computes_nothing_and_a_new_cell_only_itself(whole, tmp_path):
    root, inputs, (stage_output, _, _) = whole
    again, _, stage = compared(root, inputs)
    assert again.digest == stage_output.digest
    assert stage.cache_summary() == {"captions": "30 of 30", "constant": "3 of 3", "scores": "33 of 33"}
    more = inputs | {"portuguese-small8x8": cell(root, "portuguese", "small8x8", {0: {n: f"{n} vezes" for n in range(8)}})}
    _, _, stage = compared(root, more)
    assert stage.cache_summary() == {"captions": "30 of 33", "constant": "3 of 3", "scores": "33 of 36"}


def test_a_picture_with_forty_captions_is_one_item_of_forty_references(tmp_path):
    captions = [[f"a {colour} square"] for colour in COLOURS[:5]] + [[f"caption {n} of it" for n in range(40)] * 2]
    found = read_set("input", prepared(tmp_path, "coco", captions))
    assert [len(item.references) for item in found.items] == [1, 40] and found.references == 41
    assert found.items[1].references[7] == " ".join(found.items[1].words[7])


def test_a_set_without_a_training_split_has_no_constant_caption(tmp_path):
    inputs = {"input": prepared(tmp_path, "english", squares(), test_from=0)}
    inputs["english-small1x1"] = cell(tmp_path, "english", "small1x1", {0: dict.fromkeys(range(8), "a red square")})
    stage_output, exported, stage = compared(tmp_path, inputs)
    assert "constant" not in json.loads(exported["scores.json"])["english"]
    assert "constant" not in stage_output.file("summary.txt").read_text()
    assert not any("_sd" in name and "words" not in name for name, _, _ in stage.metrics)


def test_show_prints_the_summary_and_where_the_page_is(whole, tmp_path, monkeypatch):
    stage_output = whole[2][0]
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(PROJECT / name, tmp_path / name)
    shutil.copytree(stage_output.path, tmp_path / "data" / "captioners" / "evaluate_captioners")
    monkeypatch.setenv("HEARSIGHT_ROOT", str(tmp_path))
    line = leave_warning(StageOutput(tmp_path / "data" / "english" / "extract_features"))
    shown = CliRunner().invoke(app, ["show", "--dataset", "captioners"])
    assert line in shown.output
    assert shown.exit_code == 0, shown.output
    assert "CIDEr-D on english (4 pictures, 5 references)" in shown.output and "compare.html" in shown.output


SAYS = {0: dict.fromkeys(range(8), "a red square")}


def refused(tmp_path: Path, match: str, sets: dict[str, StageOutput] | None = None, **cells: StageOutput) -> None:
    given = {"input": prepared(tmp_path, "english", squares(), about={"encoder": ENCODER})} if sets is None else sets
    with pytest.raises(HearsightError, match=match) as error:
        compared(tmp_path, {**given, **{name.replace("_", "-"): found for name, found in cells.items()}})
    assert "\n" not in str(error.value)


def test_no_captioner_no_set_and_a_cell_without_models_are_one_clear_line(tmp_path):
    refused(tmp_path, r"chain\.compare\.captioners: names no captioner")
    good = cell(tmp_path, "english", "small1x1", SAYS)
    refused(tmp_path, "names no test set", sets={}, english_small1x1=good)
    empty = cell(tmp_path, "english", "small8x8", {})
    refused(
        tmp_path,
        r"small8x8/train_captioner: holds no trained captioner — run `dvc repro -f -s train_captioner@english-small8x8`",
        empty=empty,
    )


def test_an_empty_test_split_is_one_clear_line(tmp_path):
    sets = {"input": prepared(tmp_path, "english", squares(), test_from=99)}
    refused(
        tmp_path,
        "english/extract_features: has no record in its test split",
        sets,
        cell=cell(tmp_path, "english", "small1x1", SAYS),
    )


def test_a_model_of_an_unknown_network_is_one_clear_line(tmp_path):
    found = cell(tmp_path, "english", "small1x1", SAYS, network_name="rnn3x3")
    refused(tmp_path, "models/small1x1-0: cannot caption .* 'rnn3x3' is not a captioning network", cell=found)


def test_a_model_that_is_not_the_cells_is_one_clear_line(tmp_path):
    other = cell(tmp_path, "english", "small1x1", SAYS)
    moved = other.path.parent.parent / "english-small8x8"
    shutil.copytree(other.path.parent, moved)
    refused(
        tmp_path,
        "holds 'small1x1-0', which is no captioner of the cell english-small8x8",
        cell=StageOutput(moved / "train_captioner"),
    )


@pytest.mark.parametrize(
    "change, match",
    [
        (
            {"name": "inception_resnet_v2"},
            "its encoder's name is 'inception_resnet_v2', and the features' is 'efficientnet_lite0'",
        ),
        ({"weights_sha256": "b" * 64}, "its encoder's weights_sha256 is 'bbbbbbbbbbbb', and the features' is 'aaaaaaaaaaaa'"),
        ({"trained": True}, "it takes pictures, and the set was prepared as features"),
    ],
)
def test_features_of_another_encoder_are_one_clear_line(tmp_path, change, match):
    refused(tmp_path, match, cell=cell(tmp_path, "english", "small1x1", SAYS, encoder=ENCODER | change))


def test_features_of_another_width_or_that_are_no_numbers_are_one_clear_line(tmp_path):
    good = cell(tmp_path, "english", "small8x8", SAYS)
    wide = {"input": prepared(tmp_path, "english", squares(), media=features_of(0, width=9))}
    refused(tmp_path, "features are 4 vectors of 9 numbers, and it was trained on 8: another encoder's", wide, cell=good)
    flat = {"input": prepared(tmp_path, "english", squares(), media=features_of(0, cells=0))}
    refused(tmp_path, "features are 0 vectors of 8 numbers", flat, cell=good)


@pytest.mark.parametrize("cut", [0, 5, 40, -1])
def test_weights_that_are_cut_off_are_one_clear_line(tmp_path, cut):
    found = cell(tmp_path, "english", "small1x1", SAYS, cut=cut)
    refused(tmp_path, r"models/small1x1-0: .*weights\.safetensors: is not a whole safetensors file", cell=found)


def test_weights_that_were_cut_off_after_training_are_one_clear_line(tmp_path):
    found = cell(tmp_path, "english", "small1x1", SAYS)
    path = found.path / "models" / "small1x1-0" / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    refused(tmp_path, r"weights\.safetensors: is not the file the manifest lists", cell=found)


def test_settings_out_of_range_are_one_clear_line(tmp_path):
    stage = make_stage(tmp_path, "evaluate_captioners", "captioners", PARAMS.model_copy(update={"beam": 0}))
    with pytest.raises(HearsightError, match=r"captioners\.compare\.beam: 0 cannot be used — give 1 or more"):
        evaluate_captioners.run(stage)


WORDS = st.lists(st.sampled_from(["a", "dog", "'s", "3.5", "n't", "cão"]), max_size=6)


@given(st.lists(st.tuples(WORDS, st.lists(WORDS.filter(bool), min_size=1, max_size=3)), min_size=1, max_size=6))
def test_a_captioners_own_words_are_scored_as_they_are(pairs):
    candidates = [words for words, _ in pairs]
    assert [scored_words(" ".join(words)) for words in candidates] == candidates
    scores = caption_scores(candidates, [known for _, known in pairs])
    assert all(len(values) == len(pairs) for values in scores.items.values())
    assert all(scores.corpus[name] == pytest.approx(sum(values) / len(values)) for name, values in scores.items.items())


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), min_size=1, max_size=30), st.integers(0, 9))
def test_intervals_of_one_call_share_their_resamples(values, seed):
    one, other = ([pair[at] for pair in values] for at in (0, 1))
    columns = {"one": one, "shifted": [value + 5 for value in one], "other": other, "none": [a - a for a in one]}
    found = bootstrap_intervals(columns, seed=seed, resamples=50)
    assert found == bootstrap_intervals(columns, seed=seed, resamples=50)
    assert found["shifted"] == pytest.approx([end + 5 for end in found["one"]]) and found["none"] == (0.0, 0.0)
    assert min(one) - 1e-9 <= found["one"][0] <= found["one"][1] <= max(one) + 1e-9


def scored(*captions: str, things: tuple[Things, ...] = ()) -> Scored:
    return Scored(list(captions), Scores({}, {}), list(things) or [Things(None, [], []) for _ in captions])


def written(*seeds: Scored, learned: Learnt = UNTOLD, references: tuple[str, ...] = (), language: str = "en"):
    known = [word_counts([text]) for text in references] or [word_counts(["a dog"])] * len(seeds[0].captions)
    return writing_of([(each, learned) for each in seeds], known, language)


def test_repetition_and_variety_are_the_means_of_the_seeds():
    told = written(scored("a a a dog", "a dog", "a dog"), scored("", "a cat", "a cow")).figures
    assert told["repeated_1"] == pytest.approx((2 / 8 + 0) / 2) and told["doubled"] == pytest.approx((1 / 3 + 0) / 2)
    assert told["different_captions"] == pytest.approx((2 / 3 + 1) / 2) and told["vocabulary"] == 2.5
    assert told["distinct_1"] == pytest.approx((2 / 8 + 3 / 4) / 2)


def test_lengths_are_of_all_seeds_and_held_against_the_items_own_references():
    found = written(scored("a dog", "a"), scored("a dog runs", "a big cat"), references=("a dog", "a very big cat"))
    assert (found.figures["words"], found.figures["words_difference"]) == (2.25, pytest.approx((0 - 3 + 1 - 1) / 4))
    assert found.lengths.words == [2, 1, 3, 3]


def test_what_was_learnt_tells_new_captions_the_vocabulary_used_and_the_language_of_faults():
    learned = Learnt("pt", frozenset({"um gato"}), ["um", "gato", "de", "sol"])
    told = written(scored("Um gato .", "um gato de"), learned=learned).figures
    assert (told["new_captions"], told["vocabulary_share"], told["broken_off"]) == (0.5, 0.75, 0.5)
    told = written(scored("Um gato .", "um gato de")).figures
    assert "new_captions" not in told and "vocabulary_share" not in told and told["broken_off"] == 0.0
    assert "broken_off" not in written(scored("un chat avec"), language="fr").figures


def test_marks_and_unknown_words_are_shares_of_all_captions():
    told = written(scored("a dog . . .", "a <UNK>"), scored("! !", "a dog")).figures
    assert (told["marks"], told["unknown"], told["wordless"]) == (0.25, 0.25, 0.25)


def test_references_are_told_by_what_does_not_depend_on_their_number():
    once, twice = (written_by_people(["a a dog", "a cat with"] * times, "en").figures for times in (1, 2))
    assert once == pytest.approx(twice) and once["doubled"] == once["broken_off"] == 0.5


def test_what_was_learnt_is_the_training_split_and_the_words_of_each_model(tmp_path):
    inputs = {"input": prepared(tmp_path, "english", squares())}
    inputs["english-small1x1"] = cell(tmp_path, "english", "small1x1", SAYS)
    inputs["other-small1x1"] = cell(tmp_path, "other", "small1x1", SAYS)
    stage = make_stage(tmp_path, "evaluate_captioners", "captioners", PARAMS, inputs)
    found = read_learnt(stage, *open_inputs(stage))
    assert found["english-small1x1-0"] == Learnt(
        "en", frozenset(f"a {each} square" for each in COLOURS[:4]), ["a", "red", "square"]
    )
    assert found["other-small1x1-0"] == Learnt(None, None, ["a", "red", "square"])


def test_things_that_are_not_there_are_told_as_shares_of_things_and_of_captions():
    things = (Things(2, ["cake", "clock"], []), Things(2, [], []), Things(0, [], []), Things(1, ["cake"], []))
    found = written(scored("w", "x", "y", "z", things=things))
    names = ("things", "things_unseen", "objects_unseen", "captions_with_unseen")
    assert [found.figures[name] for name in names] == [5, 3, 0.6, 0.5] and found.unseen == [("cake", 2), ("clock", 1)]


def test_things_that_nobody_looked_for_have_no_figures():
    assert not {"things", "objects_unseen", "captions_with_unseen"} & set(written(scored("a dog")).figures)


def test_meteor_and_spice_that_cannot_be_run_are_one_clear_line(whole, tmp_path):
    for name, said in (("meteor", "METEOR"), ("spice", "SPICE: there is no")):
        with pytest.raises(HearsightError, match=said):
            compared(tmp_path / name, whole[1], PARAMS.model_copy(update={name: str(tmp_path / "nothing")}))
