"""A speech tower over the states of a hub's model: trained, fine-tuned, evaluated and asked, with the width of the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.hub.model import find_model
from components.models.dual_encoder import DualEncoderConfig
from components.retrieval.pairs import read_pairs
from components.retrieval.settings import Towers
from components.search.queries import Query
from components.search.query_encoder import QueryEncoder
from components.speech.audio.files import from_flac
from components.stages import evaluate_retrieval
from components.stages.evaluate_retrieval.run import run as run_evaluate_retrieval
from components.vision.image_encoders import EncodedImage, ViewSpec
from tests.support import make_stage
from tests.support.hub.encoders import make_hubert, make_siglip
from tests.support.retrieval.stages import TOWERS, config_of, fine_tune, pretrain
from tests.support.retrieval.world import spoken_set
from tests.support.search_index.world import drawn_image

EAR = {"rows": ["whisper-mms-4"], "towers": TOWERS | {"width": 8, "ear": "hubert"}}


def test_towers_read_the_states_of_the_model_that_ear_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARSIGHT_ROOT", str(tmp_path))
    make_hubert(tmp_path / "hubert")
    found, one = find_model(tmp_path, "hubert"), spoken_set(tmp_path)
    start = pretrain(tmp_path, one, **EAR)
    network = config_of(start, "whisper-mms-4-0")["network"]
    assert (network["ear"], network["ear_sha256"], network["states"]) == ("hubert", found.digest, 20)
    [stored] = (path.name for path in (tmp_path / ".hearsight/annotations").glob("*.sqlite"))
    assert stored.startswith(f"hub-states-v1-{found.digest[:16]}")
    models, _ = fine_tune(tmp_path, one, start, rows=["whisper-both-100"])
    assert config_of(models, "whisper-both-100-0")["network"] == network
    inputs = {"input": models, "speech": one.speech, "images": one.images}
    stage = make_stage(tmp_path, "evaluate_retrieval", "stamps", evaluate_retrieval.Params(resamples=10), inputs)
    run_evaluate_retrieval(stage)
    stage.finish()
    assert {row["model"] for row in StageOutput(stage.out).table().to_pylist()} == {"whisper-both-100-0"}

    folder = models.file("models/whisper-both-100-0/config.json").parent
    encoder = QueryEncoder(folder, "whole")
    pairs = read_pairs([one], "test", ["image"])
    samples = from_flac(pairs.audio.read(0))
    clip, lengths = encoder._speech(samples)
    assert clip.shape[1] == 20 and torch.equal(lengths, torch.tensor([clip.shape[2]]))
    assert np.isfinite(encoder.embed(Query("speech", b"", samples))).all()
    make_hubert(tmp_path / "hubert", seed=1)
    with pytest.raises(HearsightError, match="hubert: has other files"):
        QueryEncoder(folder, "whole").embed(Query("speech", b"", samples))


def test_an_image_query_is_read_by_the_hubs_model_that_the_config_records(tmp_path: Path) -> None:
    found = find_model(tmp_path, make_siglip(tmp_path / "siglip").name)
    asked = QueryEncoder.__new__(QueryEncoder)
    asked.crop, asked.weights = "centre", None
    about = {"name": "hub", "side": 32, "trained": False, "weights_sha256": found.digest, "model": str(found.folder)}
    asked.config, data = {"encoder": about}, drawn_image(1)
    expected = EncodedImage("hub", found, 32, view_spec=ViewSpec("centre", grid=False)).compute((data, sha256_bytes(data), 0))
    assert np.array_equal(asked._frozen(data), expected[0])
    # A folder that is named instead, as by --encoder-weights.
    asked.config = {"encoder": about | {"model": "moved"}}
    asked.weights = found.folder
    assert np.array_equal(asked._frozen(data), expected[0])


def test_settings_without_an_ear_are_what_they_were(tmp_path: Path) -> None:
    assert "ear" not in Towers().of_row("whisper") and "ear" not in Towers(ear="hubert").of_row("convolutions")
    plain = DualEncoderConfig(speech="whisper").plain()
    assert not {"ear", "ear_sha256", "states"} & set(plain) and DualEncoderConfig.of(plain).states == 512
    heard = DualEncoderConfig(speech="whisper", ear="hubert", ear_sha256="0" * 64, states=20)
    assert DualEncoderConfig.of(heard.plain()) == heard
