"""Rate, pitch and gain do what they say, to the same bytes, and change nothing else."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.speech.audio.files import RATE_HZ
from components.speech.audio.pitch import decimate, track_pitch
from components.speech.audio.pitch_marks import pitch_marks
from components.speech.audio.shaping import HEADROOM_DB, change_prosody, fit_peak
from tests.speech.audio.speech import noise, pitch_of, spoken, vowel
from tests.support import PROJECT

SAID = "several horses are drinking water from the river"
VOICES = ("hibari-heart", "nanotts-en-us")
CORNERS = [(1.2, 2.0), (0.8, -2.0), (1.2, -2.0), (0.8, 2.0), (1.0, 2.0), (0.9, 0.0)]


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize(("rate", "pitch"), CORNERS)
def test_speech_gets_the_requested_length_and_pitch(voice: str, rate: float, pitch: float) -> None:
    own = spoken(voice, SAID)
    result = change_prosody(own, rate=rate, pitch=pitch, gain=0.0)
    assert len(result) == round(len(own) / rate)
    assert pitch_of(result) / pitch_of(own) == pytest.approx(2 ** (pitch / 12), rel=0.02)


@pytest.mark.parametrize("hertz", [80.0, 120.0, 220.0, 350.0])
def test_low_and_high_pitches_are_detected_and_shifted(hertz: float) -> None:
    own = vowel(1.0, hertz)
    result = track_pitch(decimate(own))
    assert np.mean(result > 0) > 0.9 and np.median(result[result > 0]) == pytest.approx(hertz, rel=0.02)
    assert pitch_of(change_prosody(own, rate=0.9, pitch=1.5, gain=0.0)) == pytest.approx(hertz * 2 ** (1.5 / 12), rel=0.02)


def test_formants_are_unchanged() -> None:
    own = vowel(1.5, 110.0)

    def centre(samples: np.ndarray) -> float:
        power = np.abs(np.fft.rfft(samples)) ** 2
        hertz = np.fft.rfftfreq(len(samples), 1 / RATE_HZ)
        first = (hertz > 250) & (hertz < 1000)
        return float((power * hertz)[first].sum() / power[first].sum())

    for pitch in (-2.0, 2.0):
        assert centre(change_prosody(own, rate=1.0, pitch=pitch, gain=0.0)) == pytest.approx(centre(own), rel=0.04)
        # Resampling, which moves formants along, would be off by 12 %.


def test_pitch_marks_are_one_period_apart_from_start_to_end_of_the_clip() -> None:
    own = np.concatenate([noise(0.2, 0.01), vowel(0.8, 125.0), noise(0.3, 0.01)])
    marks, voiced = pitch_marks(own)
    assert marks[0] == 0 and marks[-1] == len(own) and len(voiced) == len(marks) - 1
    steps = np.diff(marks)
    assert (steps > 0).all()
    assert np.percentile(np.abs(steps[voiced] / (RATE_HZ / 125.0) - 1), 90) < 0.06
    assert np.median(marks[:-1][voiced]) == pytest.approx(0.6 * RATE_HZ, rel=0.1) and not voiced[0] and not voiced[-1]


def test_gain_comes_last_and_is_exact() -> None:
    own = spoken(VOICES[1], SAID)
    plain, louder = (change_prosody(own, rate=1.1, pitch=1.0, gain=gain) for gain in (0.0, 6.0))
    np.testing.assert_allclose(louder, plain * 10 ** (6 / 20), rtol=1e-5, atol=1e-7)


@pytest.mark.long
def test_at_rate_1_and_pitch_0_samples_are_unchanged() -> None:
    own = spoken(VOICES[0], SAID)
    assert np.array_equal(change_prosody(own, rate=1.0, pitch=0.0, gain=0.0), own)


def test_a_tiny_requested_change_gives_a_tiny_difference() -> None:
    own = spoken(VOICES[1], SAID)
    result = change_prosody(own, rate=1.0, pitch=1e-9, gain=0.0)
    assert np.sqrt(np.mean((result - own) ** 2)) < 1e-3 * np.sqrt(np.mean(own**2))


def test_a_fricative_keeps_its_power_and_its_lack_of_pitch() -> None:
    own = noise(1.0)
    for rate in (0.8, 1.2):
        result = change_prosody(own, rate=rate, pitch=2.0, gain=0.0)
        inner = result[1600:-1600]
        assert np.mean(inner**2) == pytest.approx(np.mean(own**2), rel=0.1)
        lags = np.correlate(inner, inner[2000:-2000], mode="valid") / np.dot(inner[2000:-2000], inner[2000:-2000])
        assert np.abs(np.delete(lags, 2000)).max() < 0.3


def test_a_burst_occurs_once_in_the_output() -> None:
    own = noise(0.6, 0.002)
    own[4800:4880] += noise(0.005, 0.4, seed=1)
    result = change_prosody(own, rate=0.7, pitch=0.0, gain=0.0)
    loud = np.flatnonzero(np.abs(result) > 0.15)
    assert len(loud) and loud[-1] - loud[0] < 90


HASH = """
import hashlib, sys
import numpy as np
from components.speech.audio.shaping import change_prosody
for seed in sys.argv[1:]:
    rng = np.random.default_rng(int(seed))
    own = (np.sin(np.arange(20000) * .05) * .2 + rng.standard_normal(20000) * .01).astype(np.float32)
    print(seed, hashlib.sha256(change_prosody(own, rate=1.13, pitch=-1.2, gain=2.0).tobytes()).hexdigest())
"""


def test_bytes_are_the_same_in_any_order_and_process() -> None:
    result = [
        subprocess.run([sys.executable, "-c", HASH, *order], cwd=PROJECT, capture_output=True, check=True, text=True).stdout
        for order in (["1", "2", "3"], ["3", "3", "1", "2"])
    ]
    assert len(set(result[0].splitlines())) == 3 and set(result[0].splitlines()) == set(result[1].splitlines())


@settings(max_examples=60, deadline=None)
@given(
    length=st.integers(0, 9000),
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["zeros", "noise", "clicks", "tone", "constant"]),
    rate=st.floats(0.5, 2.0),
    pitch=st.floats(-12.0, 12.0),
)
def test_any_samples_give_finite_ones_of_the_right_number(length: int, seed: int, kind: str, rate: float, pitch: float) -> None:
    rng = np.random.default_rng(seed)
    own = {
        "zeros": np.zeros(length),
        "noise": rng.standard_normal(length) * 0.1,
        "clicks": (rng.random(length) > 0.999).astype(float),
        "tone": 0.5 * np.sin(np.arange(length) * rng.uniform(0.001, 3.0)),
        "constant": np.full(length, rng.uniform(-1, 1)),
    }[kind].astype(np.float32)
    before = hashlib.sha256(own.tobytes()).digest()
    result = change_prosody(own, rate=rate, pitch=pitch, gain=0.0)
    assert result.dtype == np.float32 and np.isfinite(result).all()
    assert len(result) == (round(length / rate) if length >= 640 and (rate, pitch) != (1.0, 0.0) else length)
    assert np.abs(result).max(initial=0.0) <= 3.0 * np.abs(own).max(initial=0.0) + 1e-6
    assert hashlib.sha256(own.tobytes()).digest() == before


def test_a_clip_above_full_scale_is_attenuated_as_a_whole_by_the_reported_factor() -> None:
    own = vowel()
    assert np.array_equal(fit_peak(own)[0], own) and fit_peak(own)[1] == 0.0
    louder = change_prosody(own, rate=1.0, pitch=0.0, gain=20.0)
    fitted, down = fit_peak(louder)
    assert 20 * np.log10(np.abs(fitted).max()) == pytest.approx(-HEADROOM_DB, abs=1e-3)
    assert down < 0
    np.testing.assert_allclose(fitted, louder * 10 ** (down / 20), rtol=1e-5)
    np.testing.assert_allclose(fitted, own * 10 ** ((20 + down) / 20), rtol=1e-5)
    assert fit_peak(np.zeros(0, np.float32))[1] == 0.0
