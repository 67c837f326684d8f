"""Speech encoders of a hub: their states are transformers', averaged and packed, and the key holds the digest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
from components.hub.model import find_model
from components.speech.recognition.encoder_states import EncoderStates, unpack
from components.speech.recognition.hub_states import HubStates, open_ear
from tests.support.hub import make_clip
from tests.support.hub.encoders import make_hubert, make_whisper

RATE_HZ = 16_000
SOUND = np.sin(np.arange(RATE_HZ) / 9).astype(np.float32) * np.linspace(0.1, 0.9, RATE_HZ, dtype=np.float32)


@pytest.mark.parametrize(("name", "states", "width"), [("whisper", 50, 24), ("large", 50, 24), ("hubert", 49, 20)])
def test_states_are_those_of_transformers_four_averaged(tmp_path: Path, name: str, states: int, width: int) -> None:
    make_hubert(tmp_path / name) if name == "hubert" else make_whisper(tmp_path / name, mels=128 if name == "large" else 80)
    found = find_model(tmp_path, name)
    annotator = HubStates(found)
    heard = unpack(ResultCache(tmp_path / "cache").annotate(annotator, {"one": SOUND})["one"])
    extractor, model = (
        getattr(transformers, auto).from_pretrained(found.folder) for auto in ("AutoFeatureExtractor", "AutoModel")
    )
    model.eval()
    with torch.inference_mode():
        given = extractor(SOUND, sampling_rate=RATE_HZ, return_tensors="pt")
        made = model(given.input_values) if name == "hubert" else model.encoder(given.input_features)
    expected = [part.mean(0).numpy() for part in made.last_hidden_state[0, :states].split(4)]
    assert heard.shape == (13, width) and annotator.width == width
    np.testing.assert_allclose(heard, expected, atol=np.abs(expected).max() / 100)
    assert found.digest[:16] in annotator.model and annotator.model != HubStates(found, "gpu").model


def test_any_length_has_states_of_80_ms_up_to_the_30_s_of_whisper(tmp_path: Path) -> None:
    make_whisper(tmp_path / "whisper"), make_hubert(tmp_path / "hubert")
    for name, ears in (("whisper", (1, 1, 13, 373)), ("hubert", (1, 1, 13, 373))):
        annotator = HubStates(find_model(tmp_path, name))
        lengths = [len(annotator.compute(np.resize(SOUND, count))) for count in (0, 100, RATE_HZ, 40 * RATE_HZ)]
        assert tuple(lengths) == ears


def test_the_ear_of_a_tower_is_whisper_base_or_the_model_that_it_was_trained_with(tmp_path: Path) -> None:
    assert isinstance(open_ear({"speech": "whisper"}, tmp_path), EncoderStates)
    make_hubert(tmp_path / "hubert")
    network = {"ear": "hubert", "ear_sha256": find_model(tmp_path, "hubert").digest}
    assert isinstance(open_ear(network, tmp_path), HubStates)
    make_hubert(tmp_path / "hubert", seed=1)
    with pytest.raises(HearsightError, match=r"hubert: has other files \(.*\) than the speech tower was trained with"):
        open_ear(network, tmp_path)


def test_what_is_no_encoder_of_speech_is_refused(tmp_path: Path) -> None:
    make_clip(tmp_path / "clip")
    with pytest.raises(HearsightError, match="clip: ") as refused:
        HubStates(find_model(tmp_path, "clip"))
    assert "\n" not in str(refused.value)
    slow = transformers.HubertConfig(hidden_size=20, conv_dim=(16,), conv_kernel=(10,), conv_stride=(5,), num_hidden_layers=1)
    slow.save_pretrained(make_hubert(tmp_path / "slow"))
    with pytest.raises(HearsightError, match="slow: is no encoder of speech at 16 kHz with states of 20 ms"):
        HubStates(find_model(tmp_path, "slow"))
