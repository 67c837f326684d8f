"""Invalid inputs, models and settings fail with one line that names them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.params import parse_settings
from components.core.stage_output import StageOutput
from components.stages.evaluate_captioners import Params
from tests.stages.evaluate_captioners.running import compared
from tests.stages.evaluate_captioners.world import (
    ENCODER,
    PARAMS,
    cell,
    features_of,
    prepared,
    squares,
)

SAYS = {0: dict.fromkeys(range(8), "a red square")}


def refused(tmp_path: Path, match: str, sets: dict[str, StageOutput] | None = None, **cells: StageOutput) -> None:
    given = {"input": prepared(tmp_path, "english", squares(), about={"encoder": ENCODER})} if sets is None else sets
    with pytest.raises(HearsightError, match=match) as error:
        compared(tmp_path, {**given, **{name.replace("_", "-"): result for name, result in cells.items()}})
    assert "\n" not in str(error.value)


def test_missing_captioners_sets_and_models_give_a_one_line_error(tmp_path):
    refused(tmp_path, r"chain\.evaluate_captioners\.captioners: names no captioner")
    good = cell(tmp_path, "english", "small1x1", SAYS)
    refused(tmp_path, "names no test set", sets={}, english_small1x1=good)
    empty = cell(tmp_path, "english", "small8x8", {})
    refused(
        tmp_path,
        r"small8x8/train_captioner: holds no trained captioner — run `dvc repro -f -s train_captioner@english-small8x8`",
        empty=empty,
    )


def test_an_empty_test_split_gives_a_one_line_error(tmp_path):
    sets = {"input": prepared(tmp_path, "english", squares(), test_from=99)}
    refused(
        tmp_path,
        "english/extract_features: has no record in its test split",
        sets,
        cell=cell(tmp_path, "english", "small1x1", SAYS),
    )


def test_a_test_set_without_records_gives_a_one_line_error_and_a_training_set_without_a_test_split_none(tmp_path):
    trained = {"english": prepared(tmp_path, "english", squares(), test_from=99, about={"encoder": ENCODER})}
    tested = {"coco": prepared(tmp_path, "coco", squares(), test_from=0, about={"encoder": ENCODER})}
    model = cell(tmp_path, "english", "small1x1", SAYS, encoder=ENCODER)
    output, _, _ = compared(tmp_path, {**trained, **tested, "english-small1x1": model})
    assert set(output.table(["test"])["test"].to_pylist()) == {"coco"}
    empty = {"flickr": prepared(tmp_path, "flickr", squares(), test_from=99, about={"encoder": ENCODER})}
    refused(tmp_path, "flickr/extract_features: has no record in its test split", {**tested, **empty}, english_small1x1=model)


def test_a_model_of_an_unknown_network_gives_a_one_line_error(tmp_path):
    result = cell(tmp_path, "english", "small1x1", SAYS, network_name="rnn3x3")
    refused(tmp_path, "models/small1x1-0: cannot caption .* 'rnn3x3' is not a captioning network", cell=result)


def test_a_model_of_another_cell_gives_a_one_line_error(tmp_path):
    other = cell(tmp_path, "english", "small1x1", SAYS)
    moved = other.path.parent.parent / "english-small8x8"
    shutil.copytree(other.path.parent, moved)
    refused(
        tmp_path,
        "holds 'small1x1-0', which is not a captioner of the cell english-small8x8",
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
        ({"trained": True}, "it takes images, and the set was prepared as features"),
    ],
)
def test_features_of_another_encoder_give_a_one_line_error(tmp_path, change, match):
    refused(tmp_path, match, cell=cell(tmp_path, "english", "small1x1", SAYS, encoder=ENCODER | change))


def test_features_of_another_width_or_with_nan_give_a_one_line_error(tmp_path):
    good = cell(tmp_path, "english", "small8x8", SAYS)
    wide = {"input": prepared(tmp_path, "english", squares(), media=features_of(0, width=9))}
    refused(
        tmp_path,
        "features are 4 vectors of 9 numbers, and the model was trained on 8: they are of another",
        wide,
        cell=good,
    )
    flat = {"input": prepared(tmp_path, "english", squares(), media=features_of(0, cells=0))}
    refused(tmp_path, "features are 0 vectors of 8 numbers", flat, cell=good)


@pytest.mark.parametrize("cut", [0, 5, 40, -1])
def test_truncated_weights_give_a_one_line_error(tmp_path, cut):
    result = cell(tmp_path, "english", "small1x1", SAYS, cut=cut)
    refused(tmp_path, r"models/small1x1-0: .*weights\.safetensors: is not a whole safetensors file", cell=result)


def test_weights_truncated_after_training_give_a_one_line_error(tmp_path):
    result = cell(tmp_path, "english", "small1x1", SAYS)
    path = result.path / "models" / "small1x1-0" / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    refused(tmp_path, r"weights\.safetensors: is not the file the manifest lists", cell=result)


def test_settings_out_of_range_give_a_one_line_error(tmp_path):
    with pytest.raises(HearsightError, match=r"captioners\.evaluate_captioners\.beam: 0 is too small — give 1 or more"):
        parse_settings(Params, {"beam": 0}, "captioners.evaluate_captioners")


@pytest.mark.long
def test_unavailable_meteor_and_spice_give_a_one_line_error(evaluated, tmp_path):
    for name, result in (("meteor", "METEOR"), ("spice", "SPICE: .*spice-1.0.jar does not exist")):
        with pytest.raises(HearsightError, match=result):
            compared(tmp_path / name, evaluated[1], PARAMS.model_copy(update={name: str(tmp_path / "nothing")}))
