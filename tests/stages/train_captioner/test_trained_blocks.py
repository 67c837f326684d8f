"""The last blocks of an encoder, trained with a captioner over their cached input."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from components.core.stage_output import StageOutput
from components.stages.evaluate_captioners.writing import caption_images, read_features, require_encoder
from components.stages.train_captioner.jobs import train, train_captioner
from components.vision.captioning import Captioner
from components.vision.image_encoders import EncodedImage
from components.vision.trained_encoders import captioner_encoder
from tests.support import make_output
from tests.support.train_captioner.project import no_second_phase, npy, prepared, spec_of, task_of

CUT = EncodedImage("efficientnet_lite0", side=64, without=2)
ABOUT = {"name": "efficientnet_lite0", "side": 64, "trained": False, "trained_blocks": 2, "weights_sha256": CUT.digest}


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> StageOutput:
    return prepared(tmp_path_factory.mktemp("images"), training=6, validation=2, images=True)


@pytest.fixture(scope="module")
def cached(images: StageOutput, tmp_path_factory: pytest.TempPathFactory) -> StageOutput:
    """The set as ``extract_features`` keeps it: what the blocks that are not trained make of each image."""
    rows, media = [], {}
    for row in images.table().to_pylist():
        sha = row["image_sha256"]
        media[f"{sha}.npy"] = npy(CUT.compute((images.read_media(row["media"]), sha, 0))[None])
        rows.append(row | {"media": f"00000/{sha}.npy"})
    return make_output(tmp_path_factory.mktemp("cached"), "extract_features", [rows], media=[media])


def spec(network: str = "t2t8x8", **settings: Any) -> dict[str, Any]:
    return spec_of(network, ABOUT, epochs=1, **no_second_phase(), **settings)


@pytest.mark.parametrize(("network", "rate", "moved"), [("t2t8x8", 1.0, True), ("t2t8x8", 0.0, False), ("rnn1x1", 1.0, True)])
def test_the_blocks_learn_at_their_own_rate(cached: StageOutput, tmp_path: Path, network: str, rate: float, moved: bool) -> None:
    weights = train(spec(network, encoder_rate=rate), task_of(tmp_path, cached)).recipe.best["weights"]
    first = captioner_encoder(ABOUT)
    assert first is not None
    changed = {name: not torch.equal(weights[f"encoder.{name}"], tensor) for name, tensor in first.state_dict().items()}
    assert len(changed) >= 8 and set(changed.values()) == {moved}


def test_images_get_the_captions_of_their_cached_input(images: StageOutput, cached: StageOutput, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    train_captioner(spec(), task_of(tmp_path, cached), folder)
    captioner, rows = Captioner(folder), images.table().to_pylist()
    written = captioner.write([captioner.see(images.read_media(row["media"]), row["key"]) for row in rows])
    kept = [row["media"] for row in cached.table().to_pylist()]
    expected = caption_images([folder], partial(read_features, cached), kept, beam=4)
    assert [caption.text for caption in written] == [best for ((best, _),) in expected]
    with pytest.raises(ValueError, match="trains 2 last blocks, and the set was prepared for 0"):
        require_encoder({"encoder": ABOUT}, {"encoder": ABOUT | {"trained_blocks": 0}})


def test_blocks_over_their_input_give_the_features_of_the_whole_encoder(images: StageOutput) -> None:
    row = images.table().to_pylist()[0]
    payload = (images.read_media(row["media"]), row["image_sha256"], 1)
    encoder: Any = captioner_encoder(ABOUT)
    with torch.no_grad():
        made = encoder.encode(torch.from_numpy(CUT.compute(payload)[None, 1:]).float())[0].numpy()
    whole = EncodedImage("efficientnet_lite0", side=64).compute(payload)
    # The cached input is in half precision.
    np.testing.assert_allclose(made, whole, atol=0.02)
    assert np.abs(whole).max() > 1
