"""Pretraining and fine-tuning: rows, seeds, warm starts, and invalid settings."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from components.core.errors import HearsightError
from components.core.params import parse_settings
from components.core.stage_output import StageOutput
from components.retrieval.jobs import subset
from components.retrieval.pairs import SpokenSet, read_pairs
from components.retrieval.settings import FineTuningSettings
from components.stages import evaluate_retrieval
from components.stages.evaluate_retrieval.run import run as run_evaluate_retrieval
from tests.support import make_stage
from tests.support.retrieval.stages import MODEL, TOWERS, config_of, fine_tune, pretrain
from tests.support.retrieval.training import OPTIMISATION
from tests.support.retrieval.world import spoken_set


@pytest.mark.long
def test_every_row_and_seed_has_a_model_that_states_its_settings(tmp_path: Path) -> None:
    one = spoken_set(tmp_path)
    start = pretrain(tmp_path, one, rows=["mms-4", "triplet-3"], seeds=[0, 1])
    assert start.table(["key"])["key"].to_pylist() == ["mms-4-0", "mms-4-1", "triplet-3-0", "triplet-3-1"]
    triplet = config_of(start, "triplet-3-1")
    assert (triplet["loss"], triplet["settings"]["optimisation"]["batch"], triplet["seed"]) == ("triplet", 3, 1)
    models, _ = fine_tune(tmp_path, one, start, rows=["none-100", "audio-50"])
    assert models.table(["key"])["key"].to_pylist() == ["audio-50-0", "none-100-0"]
    half = config_of(models, "audio-50-0")
    assert half["training_pairs"] == 4 and half["start"]["towers"] == ["speech"] and half["start"]["model"] == "mms-4-0"
    # Half of the pairs, and twice the epochs.
    assert half["steps"] == config_of(models, "none-100-0")["steps"] == 4


def test_a_voice_that_pretraining_left_out_is_fitted_to_and_tested_alone(tmp_path: Path) -> None:
    one = spoken_set(tmp_path, voices=3)
    start = pretrain(tmp_path, one, voices=["v0", "v1"])
    models, _ = fine_tune(tmp_path, one, start, voices=["v2"])
    pairs = config_of(start, "mms-4-0")["training_pairs"], config_of(models, "both-100-0")["training_pairs"]
    assert pairs == (16, 8)
    inputs = {"input": models, "speech": one.speech, "images": one.images}
    params = evaluate_retrieval.Params(voices=["v2"], resamples=10)
    stage = make_stage(tmp_path, "evaluate_retrieval", "stamps", params, inputs)
    run_evaluate_retrieval(stage)
    stage.finish()
    rows = StageOutput(stage.out).table().to_pylist()
    asked = {row["key"] for row in rows if row["direction"] == "speech_to_image"}
    assert len(asked) == 4 and all(key.endswith(".2") for key in asked) and {row["items"] for row in rows} == {4}


@pytest.mark.long
@pytest.mark.parametrize(
    ("row", "taken"), [("none", ()), ("audio", ("speech",)), ("image", ("image",)), ("both", ("speech", "image"))]
)
def test_a_warm_start_copies_only_the_towers_of_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str, taken: tuple[str, ...]
) -> None:
    one = spoken_set(tmp_path)
    start = pretrain(tmp_path, one)
    # No step: what comes out is what training began with.
    monkeypatch.setattr("components.retrieval.jobs.fit", begin_only)
    models, _ = fine_tune(tmp_path, one, start, rows=[f"{row}-100"])
    before = load_file(start.file("models/mms-4-0/weights.safetensors"))
    after = load_file(models.file(f"models/{row}-100-0/weights.safetensors"))
    for tower in ("speech", "image"):
        names = [name for name in before if name.startswith(f"{tower}.") and before[name].unique().numel() > 1]
        # The mean and deviation of coefficients are those of the set trained on, and here both sets are the same.
        names = [name for name in names if name not in ("speech.mean", "speech.deviation")]
        assert names and all(before[name].equal(after[name]) == (tower in taken) for name in names)


def begin_only(recipe: Any, *_: Any) -> None:
    weights = {name: tensor.clone() for name, tensor in recipe.network.state_dict().items()}
    recipe.best = {"epoch": 0, "validation": 0.0, "weights": weights}


def test_more_pretrained_models_start_no_new_fine_tuning(tmp_path: Path) -> None:
    one = spoken_set(tmp_path)
    first, cached = fine_tune(tmp_path, one, pretrain(tmp_path, one))
    assert cached == {"models": "0 of 1"}
    more = pretrain(tmp_path, one, rows=["mms-4", "mms-3"])
    again, cached = fine_tune(tmp_path, one, more)
    assert cached == {"models": "1 of 1"} and again.digest == first.digest


def test_a_smaller_sample_of_the_pairs_is_a_subset_of_a_larger_one(tmp_path: Path) -> None:
    pairs = read_pairs([spoken_set(tmp_path, images=40)], "train", ["image"])
    parts = [set(subset(pairs, percent, 3).tolist()) for percent in (5, 10, 50, 100)]
    assert [len(part) for part in parts] == [1, 2, 10, 20]
    assert all(small < large for small, large in itertools.pairwise(parts))
    assert subset(pairs, 50, 3).tolist() != subset(pairs, 50, 4).tolist()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"rows": ["both"]}, r"'both' is no row: .*none, audio, image, both"),
    ({"rows": ["all-100"]}, "'all-100' is no row"),
    ({"rows": ["both-0"]}, "'both-0' is no row"),
    ({"rows": ["both-200"]}, "'both-200' is no row"),
    ({"rows": ["both-010"]}, "'both-010' is no row"),
    ({"rows": ["both-٥"]}, "is no row"),
    ({"model": MODEL | {"optimisation": OPTIMISATION | {"batch": 0}}}, r"finetune_retrieval\.model\.optimisation\.batch: is 0"),
    ({"pretrained": "mms-48"}, r"no pretrained model mms-48-0.*mms-4-0"),
    ({"seeds": [7]}, "no pretrained model mms-4-7"),
    ({"loss": "infonce"}, "'infonce' is not a loss"),
    ({"rows": ["none-1"]}, "needs at least 2 training pairs and has 1"),
    ({"model": MODEL | {"loss": MODEL["loss"] | {"matching": []}}}, "matching: names nothing"),
]


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> tuple[SpokenSet, StageOutput]:
    """A set and a model pretrained on it."""
    root = tmp_path_factory.mktemp("pretrained")
    one = spoken_set(root)
    return one, pretrain(root, one)


@pytest.mark.long
@pytest.mark.parametrize(("changed", "message"), WRONG)
def test_invalid_settings_are_refused_with_one_line(
    pretrained: tuple[SpokenSet, StageOutput], tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    one, start = pretrained
    with pytest.raises(HearsightError, match=message) as caught:
        fine_tune(tmp_path, one, start, **changed)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("block", "setting", "value"), [("clips", "frames", 0), ("loss", "margin", -1.0), ("clips", "mask_frames", -1)]
)
def test_a_setting_out_of_its_range_is_refused_with_its_name(block: str, setting: str, value: float) -> None:
    model = MODEL | {block: MODEL[block] | {setting: value}}
    with pytest.raises(HearsightError, match=rf"^model\.{block}\.{setting}: {value} is too small — give \d") as caught:
        parse_settings(FineTuningSettings, model, "model")
    assert "\n" not in str(caught.value)


def test_a_model_trained_on_other_image_views_is_refused_as_initialisation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = pretrain(tmp_path, spoken_set(tmp_path))
    monkeypatch.setattr("tests.support.retrieval.world.FROZEN", {"name": "another", "trained": False})
    other = spoken_set(tmp_path / "other")
    with pytest.raises(HearsightError, match="was trained with the image encoder"):
        fine_tune(tmp_path, other, start)


def test_towers_trained_on_pixels_need_images(tmp_path: Path) -> None:
    one = spoken_set(tmp_path)
    with pytest.raises(HearsightError, match=r"encoder\.frozen: false"):
        pretrain(tmp_path, one, towers=TOWERS | {"image": "convolutions", "side": 32})


@pytest.mark.slow
def test_the_papers_towers_train_on_images_and_stacked_coefficients(tmp_path: Path) -> None:
    one = spoken_set(tmp_path, images=4, frozen=False)
    towers = TOWERS | {
        "speech": "inception_resnet_v2",
        "image": "inception_resnet_v2",
        "side": 75,
        "embedding": 1536,
        "scale": 0.0,
    }
    short = MODEL | {"optimisation": OPTIMISATION | {"epochs": 1, "batch": 2}}
    models = pretrain(tmp_path, one, towers=towers, rows=["mms-2"], model=short)
    assert config_of(models, "mms-2-0")["parameters"] == 2 * 54_306_464
