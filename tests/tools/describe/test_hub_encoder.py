"""A captioner over features of a hub's model finds that model again, and describes images with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.stages.extract_features import Params
from components.tools.describe.describer import Describer
from tests.support.describe.world import drawn_image, features, make_captioners
from tests.support.hub.encoders import make_dinov2

ENCODER = {"name": "hub", "weights": "weights/dinov2", "side": 0, "frozen": True}


def test_an_image_is_described_through_the_encoder_that_the_captioner_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARSIGHT_ROOT", str(tmp_path))
    make_dinov2(tmp_path / "weights/dinov2")
    make_captioners(tmp_path, ["t2t8x8"], ENCODER)
    prepared = json.loads(StageOutput(tmp_path / "data/english/extract_features").file("prepared.json").read_text())["encoder"]
    assert prepared.items() >= {"name": "hub", "side": 32, "trained": False, "model": "weights/dinov2"}.items()
    assert [path.name.startswith(f"encoded-picture-v4-hub-32-{prepared['weights_sha256'][:16]}") for path in
            (tmp_path / ".hearsight/annotations").glob("*.sqlite")] == [True]  # fmt: skip
    assert Describer.open(tmp_path, "en").describe(drawn_image("red")).caption == "a red square"
    # The weights of another model, or none.
    make_dinov2(tmp_path / "weights/dinov2", seed=1)
    with pytest.raises(HearsightError, match=r"weights/dinov2: reads features of hub with other weights"):
        Describer.open(tmp_path, "en")
    (tmp_path / "weights/dinov2/model.safetensors").unlink()
    with pytest.raises(HearsightError, match=r"weights/dinov2: holds no weights in safetensors"):
        Describer.open(tmp_path, "en")


@pytest.mark.parametrize(("changed", "message"), [({"weights": ""}, "needs a model"), ({"frozen": False}, "is not trained")])
def test_a_hubs_model_must_be_named_and_frozen(changed: dict[str, object], message: str) -> None:
    with pytest.raises(HearsightError, match=message):
        Params.model_validate({"encoder": ENCODER | changed}).check("english.extract_features")


def test_a_model_that_cannot_read_the_side_ends_the_stage_at_its_start(tmp_path: Path) -> None:
    make_dinov2(tmp_path / "weights/dinov2")
    with pytest.raises(HearsightError, match=r"weights/dinov2: reads no images of 4 px .* — give side 32"):
        features(tmp_path, ENCODER | {"side": 4})
    assert not list((tmp_path / ".hearsight").rglob("*.sqlite"))
