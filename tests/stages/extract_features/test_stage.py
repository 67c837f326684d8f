"""Tokens and features of records are complete and reproducible."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.seeded_rng import seeded_rng
from components.core.stage_output import StageOutput
from components.core.view_arrays import SUFFIX, PackedViews
from components.stages import extract_features
from components.stages.extract_features.run import run as run_extract_features
from components.vision.crops import evaluation_view, training_view
from components.vision.folding import fold_batch_norms
from components.vision.image_encoders import EncodedImage, ViewSpec, load_encoder
from components.vision.training_images import open_image
from tests.support import make_output, make_stage, row
from tests.support.features import ENCODER

SETTINGS = {"wording": "caption", "encoder": ENCODER, "views": 2, "thumbnail": 32}
SETTINGS |= {"crops": "square", "least_area": 0.5, "centre": False, "grid": True, "thumbnails": "test"}
RETRIEVAL = {"crops": "crop_or_pad", "least_area": 0.67, "centre": True, "grid": False, "thumbnails": "all"}
CAPTIONS = ["a red square", "a green square", "a blue square", "... !"]


def drawn_image(shade: int) -> bytes:
    target = io.BytesIO()
    Image.fromarray(np.full((48, 64, 3), shade, dtype=np.uint8)).save(target, "PNG")
    return target.getvalue()


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, StageOutput]:
    images, rows = {}, []
    for place, (caption, split) in enumerate(zip(CAPTIONS, ("train", "validation", "test", "test"), strict=True)):
        data = drawn_image(60 * place)
        images[f"{sha256_bytes(data)}.png"] = data
        labels = [{"label": "square", "confidence": 0.5, "identifier": ""}]
        result = {"key": f"k{place}", "caption": caption, "text": f"The {caption}", "group": f"k{place}", "split": split}
        results = {
            "image_sha256": sha256_bytes(data),
            "media": f"00000/{sha256_bytes(data)}.png",
            "format": "PNG",
            "language": "en",
        }
        rows.append(row("split", **result, **results, labels=labels))
    crawled = [row("crawl", **{name: r[name] for name in ("key", "image_sha256", "media")}) for r in rows]
    media = make_output(tmp_path / "in", "crawl", [crawled], media=[images])
    return {"media": media, "input": make_output(tmp_path / "in", "split", [rows])}


def run(root: Path, inputs: dict[str, StageOutput], **changed: Any) -> StageOutput:
    settings = {**SETTINGS, **changed}
    stage = make_stage(root, "extract_features", params=extract_features.Params.model_validate(settings), inputs=inputs)
    run_extract_features(stage)
    stage.finish()
    return StageOutput(stage.out)


def features(made: StageOutput, key: str, column: str = "media") -> np.ndarray[Any, Any]:
    media = {r["key"]: r[column] for r in made.table().to_pylist()}[key]
    data = made.read_media(media)
    if media.endswith(SUFFIX):
        return PackedViews(data).array()
    result: np.ndarray[Any, Any] = np.load(io.BytesIO(data))
    return result


def test_a_training_image_has_its_views_and_others_have_only_themselves(tmp_path: Path, inputs: dict[str, StageOutput]) -> None:
    made = run(tmp_path, inputs)
    # 96 px give a grid of 3 x 3; before it stands the whole image's vector.
    assert features(made, "k0").shape == (3, 1 + 9, 1280) and features(made, "k0").dtype == np.float16
    assert features(made, "k1").shape == features(made, "k2").shape == (1, 1 + 9, 1280)
    whole, cells = features(made, "k0")[0, 0], features(made, "k0")[0, 1:]
    assert np.allclose(whole, cells.astype(np.float32).mean(0), atol=0.01)


def test_the_chosen_caption_is_spoken_and_a_record_without_words_is_dropped(
    tmp_path: Path, inputs: dict[str, StageOutput]
) -> None:
    caption, text = run(tmp_path / "a", inputs), run(tmp_path / "b", inputs, wording="text")
    assert [r["words"] for r in caption.table().to_pylist()] == [c.split() for c in CAPTIONS[:3]]
    assert text.table().to_pylist()[0]["words"] == ["the", "a", "red", "square"]
    gone = [r for r in caption.ledger().to_pylist() if r["verdict"] == "dropped"]
    assert [(r["key"], r["rule"], r["detail"]) for r in gone] == [("k3", "no_words", "... !")]


def test_test_images_have_thumbnails_and_every_record_its_labels(tmp_path: Path, inputs: dict[str, StageOutput]) -> None:
    made = run(tmp_path, inputs)
    rows = {r["key"]: r for r in made.table().to_pylist()}
    assert rows["k0"]["thumbnail"] == "" and rows["k0"]["labels"] == ["square"]
    with Image.open(io.BytesIO(made.read_media(rows["k2"]["thumbnail"]))) as small:
        assert small.format == "JPEG" and max(small.size) == 32


def test_a_retrieval_set_has_the_whole_view_central_square_and_thumbnail_of_each_image(
    tmp_path: Path, inputs: dict[str, StageOutput]
) -> None:
    captioners, made = run(tmp_path / "a", inputs), run(tmp_path / "b", inputs, **RETRIEVAL)
    rows = {r["key"]: r for r in made.table().to_pylist()}
    assert features(made, "k0").shape == (3, 1, 1280) and features(made, "k1").shape == (1, 1, 1280)
    # The whole image is seen alike; crops and the central square are seen otherwise.
    assert np.array_equal(features(made, "k0")[0, 0], features(captioners, "k0")[0, 0])
    assert not np.array_equal(features(made, "k0")[1, 0], features(captioners, "k0")[1, 0])
    for key in ("k0", "k1", "k2"):
        centre = features(made, key, "centre")
        assert centre.shape == (1, 1, 1280) and centre.dtype == np.float16
        assert not np.array_equal(centre[0], features(made, key)[0])
        assert rows[key]["centre"] == f"00000/{rows[key]['image_sha256']}.centre.npy" and rows[key]["thumbnail"]
    assert {r["centre"] for r in captioners.table().to_pylist()} == {""}


@pytest.mark.parametrize(("size", "alike"), [((80, 80), True), ((80, 60), False)])
def test_of_a_square_image_the_centre_is_the_whole_and_is_encoded_once(size: tuple[int, int], alike: bool) -> None:
    target = io.BytesIO()
    Image.effect_noise(size, 90).convert("RGB").save(target, "PNG")
    whole, centre = (
        EncodedImage("efficientnet_lite0", side=96, view_spec=spec) for spec in (ViewSpec(), ViewSpec("centre", grid=False))
    )
    assert centre.sees_as(whole, target.getvalue()) is alike
    payload = (target.getvalue(), sha256_bytes(target.getvalue()), 0)
    assert np.array_equal(whole.compute(payload)[:1], centre.compute(payload)) is alike


def test_retrieval_views_have_the_pixels_of_end_to_end_training(tmp_path: Path, inputs: dict[str, StageOutput]) -> None:
    made, encoder = run(tmp_path, inputs, **RETRIEVAL), load_encoder("efficientnet_lite0", side=96)
    fold_batch_norms(encoder.network)  # as kept features are made; tests/vision/test_folding.py holds it to the network itself
    data = drawn_image(0)
    seen = open_image(data, 96)
    sights = [evaluation_view(seen, 96), training_view(seen, 96, seeded_rng(sha256_bytes(data), 2, "crop_or_pad"), 0.67)]
    kept = [features(made, "k0", "centre")[0, 0], features(made, "k0")[2, 0]]
    for pixels, vector in zip(sights, kept, strict=True):
        with torch.inference_mode():
            expected = encoder.encode(torch.from_numpy(np.array(pixels)).permute(2, 0, 1)[None])[0, 0]
        assert np.array_equal(expected.half().numpy(), vector)


def test_for_a_trained_encoder_images_are_stored(tmp_path: Path, inputs: dict[str, StageOutput]) -> None:
    made = run(tmp_path, inputs, encoder=ENCODER | {"frozen": False}, views=0)
    row_of = made.table().to_pylist()[0]
    assert row_of["media"].endswith(".png") and made.read_media(row_of["media"]) == drawn_image(0)


def test_the_output_names_its_encoder_and_equal_inputs_give_equal_bytes(tmp_path: Path, inputs: dict[str, StageOutput]) -> None:
    one, two = run(tmp_path / "a", inputs), run(tmp_path / "b", inputs)
    assert one.digest == two.digest
    result = json.loads(one.file("prepared.json").read_text())
    assert (
        result["wording"] == "caption" and result["encoder"]["name"] == "efficientnet_lite0" and not result["encoder"]["trained"]
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"views": -1}, "0 or more"),
        ({"encoder": ENCODER | {"frozen": False}}, "a frozen encoder"),
        ({"encoder": ENCODER | {"frozen": False}, "views": 0, "centre": True}, "a frozen encoder"),
        ({"least_area": 0.0}, "must be above 0"),
        ({"least_area": 1.5}, "must be above 0"),
        ({"encoder": ENCODER | {"name": "inception_resnet_v2"}}, "needs a file of weights"),
        ({"encoder": ENCODER | {"weights": "nothing.safetensors"}}, "cannot be read"),
    ],
)
def test_an_unencodable_input_gives_a_one_line_error(
    tmp_path: Path, inputs: dict[str, StageOutput], changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(HearsightError, match=message):
        run(tmp_path, inputs, **changed)
