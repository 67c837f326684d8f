"""One text spoken once: what is kept of it."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.speech.audio.files import RATE_HZ, from_flac, to_flac, to_int16
from components.speech.audio.measures import measure
from components.speech.voices.failures import EngineFailure
from components.stages.synthesize.prosody import Prosody, utterance_digest
from components.stages.synthesize.speech import Clip, Speech, Unspoken, unpack

MANNER = Prosody("nanotts-en-us", 1.1, -1.0, 2.0)


def test_the_measures_kept_are_those_of_the_decoded_file() -> None:
    clip = unpack(Speech("nanotts-en-us").compute(("a red ball", MANNER)))
    assert clip is not None
    assert asdict(clip.measures) == asdict(measure(from_flac(clip.flac)))
    assert clip.measures.seconds == pytest.approx(len(from_flac(clip.flac)) / RATE_HZ)


def test_a_clip_above_full_scale_is_attenuated_and_its_record_says_so() -> None:
    loud = (0.9 * np.sin(np.arange(16_000) * 0.05)).astype(np.float32)
    clip = unpack(Speech("nanotts-en-us", lambda text, manner: loud).compute(("hm", Prosody("nanotts-en-us", 1.0, 0.0, 4.0))))
    assert clip is not None and clip.measures.clipped == 0 and clip.measures.peak < -0.3
    assert clip.turned < 0.0


@given(st.integers(0, 10_000), st.floats(1e-3, 1.0))
@settings(max_examples=20, deadline=None)
def test_samples_are_measured_as_flac_stores_them(seed: int, loudest: float) -> None:
    source = np.random.default_rng(seed)
    samples = (loudest * source.uniform(-1, 1, 800)).astype(np.float32)
    samples[:3] = (1.0, -1.0, 0.0)
    np.testing.assert_array_equal(to_int16(samples) * np.float32(1 / 32768), from_flac(to_flac(samples)))


@given(st.binary(max_size=200))
def test_a_packed_clip_is_unpacked_unchanged(flac: bytes) -> None:
    clip = Clip(measure(np.ones(800, np.float32)), -0.25, flac)
    assert unpack(clip.pack()) == clip


@pytest.mark.parametrize("samples", [np.zeros(0, np.float32), np.zeros(16_000, np.float32), np.full(800, 5e-4, np.float32)])
def test_a_silent_clip_gives_no_audio(samples: np.ndarray) -> None:
    assert Speech("nanotts-en-us", lambda text, manner: samples).compute(("hm", MANNER)) == b""


def test_silence_is_a_result_and_other_failures_are_not() -> None:
    def failing(reason: str) -> Speech:
        def say(text: str, manner: Prosody) -> np.ndarray:
            raise EngineFailure("nanotts-en-us", reason, "no more")

        return Speech("nanotts-en-us", say)

    assert failing("silent").compute(("hm", MANNER)) == b""
    for reason in ("hang", "crash", "error"):
        with pytest.raises(Unspoken) as caught:
            failing(reason).compute(("hm", MANNER))
        assert (caught.value.digest, caught.value.reason) == (utterance_digest("hm", MANNER), reason)
