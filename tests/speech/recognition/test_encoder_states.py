"""The states of the frozen encoder: of the same sound the same, as many as the sound is long, and packed closely."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from components.core.result_cache import ResultCache
from components.speech.audio.files import RATE_HZ
from components.speech.recognition.encoder_states import EncoderStates, pack, unpack
from components.speech.voices.speaking import speak


def test_states_are_those_of_a_sound_alone_and_come_back_from_the_cache(tmp_path: Path) -> None:
    sounds = {text: speak(text, "nanotts-en-us") for text in ("a brown dog runs", "two children play on the beach")}
    computed = {text: EncoderStates().compute(samples) for text, samples in reversed(sounds.items())}
    stored = ResultCache(tmp_path).annotate(EncoderStates(), sounds)
    read = ResultCache(tmp_path).read(EncoderStates(), list(sounds))
    for text, samples in sounds.items():
        assert np.array_equal(stored[text], computed[text]) and np.array_equal(read[text], computed[text])
        # A state of the encoder is 20 ms, and four are averaged.
        assert computed[text].shape == (-(-(len(samples) // 320) // 4), 514)
        assert len(set(unpack(computed[text]).std(1).tolist())) > 3


def test_every_length_has_states_and_half_a_minute_is_the_most() -> None:
    noise = np.random.default_rng(0).normal(scale=0.1, size=40 * RATE_HZ).astype(np.float32)
    lengths = {samples: len(EncoderStates().compute(noise[:samples])) for samples in (0, 100, 321, 16_000, 40 * RATE_HZ)}
    assert lengths == {0: 1, 100: 1, 321: 1, 16_000: 13, 40 * RATE_HZ: 373}


def test_only_the_sound_itself_changes_its_states() -> None:
    samples = speak("a brown dog runs", "nanotts-en-us")
    # Less than a frame more is not read.
    rest = samples[: len(samples) // 160 * 160]
    assert np.array_equal(EncoderStates().compute(rest), EncoderStates().compute(np.append(rest, np.float32([0.5] * 159))))


@given(arrays.arrays(np.float32, st.tuples(st.integers(1, 5), st.just(6)), elements=st.floats(-60, 60, width=32)))
def test_packed_states_come_back_within_a_hundredth_of_their_largest_value(states: np.ndarray) -> None:
    largest = np.abs(states).max(1, keepdims=True)
    assert (np.abs(unpack(pack(states)) - states) <= 0.01 * largest + 1e-5).all()
