"""What is measured is what is defined; silence of every kind is known; trimming leaves speech whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.speech.audio import measures
from components.speech.audio.files import RATE_HZ
from components.speech.audio.measures import FRAME, LOWEST_DB, frame_power, is_silent, measure
from components.speech.audio.trim import FADE, KEPT, _without_background, trim_silence
from tests.speech.audio.speech import noise, spoken, vowel

VOICES = ("hibari-heart", "nanotts-en-us")
BOUND = KEPT * FRAME / RATE_HZ + 1e-9


def silence(seconds: float) -> np.ndarray:
    return np.zeros(int(seconds * RATE_HZ), np.float32)


def test_a_tone_between_silences_is_measured_exactly() -> None:
    tone = (0.5 * np.sin(2 * np.pi * 200 * np.arange(RATE_HZ) / RATE_HZ)).astype(np.float32)
    result = measure(np.concatenate([silence(0.25), tone, silence(0.5)]))
    assert (result.seconds, result.lead, result.tail, result.clipped) == (1.75, 0.25, 0.5, 0)
    assert result.level == pytest.approx(20 * np.log10(0.5) - 3.01, abs=0.01)
    assert result.peak == pytest.approx(-6.02, abs=0.01)


def test_silence_inside_a_clip_does_not_lower_the_level() -> None:
    own = vowel()
    apart = np.concatenate([own, silence(3.0), own])
    assert measure(apart).level == pytest.approx(measure(own).level, abs=0.1)


@pytest.mark.long
def test_gain_moves_level_and_peak_and_nothing_else() -> None:
    own = spoken(VOICES[0], "two dogs are running")
    one, other = measure(own), measure(own * np.float32(10 ** (-6 / 20)))
    assert (other.level - one.level, other.peak - one.peak) == (pytest.approx(-6, abs=1e-3), pytest.approx(-6, abs=1e-3))
    assert (one.lead, one.tail, one.seconds) == (other.lead, other.tail, other.seconds)


def test_samples_at_full_scale_are_counted() -> None:
    own = vowel()
    own[[5, 50, 500]] = 1.0, -1.0, 32767 / 32768
    assert measure(own).clipped == 3


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-2.0, 2.0, width=32), max_size=900), st.integers(0, 500), st.integers(0, 500))
def test_any_clip_has_measures_within_their_bounds(values: list[float], before: int, after: int) -> None:
    own = np.array([0.0] * before + values + [0.0] * after, np.float32)
    result = measure(own)
    assert result.seconds == len(own) / RATE_HZ and 0 <= result.clipped <= len(own)
    assert LOWEST_DB <= result.level <= max(result.peak, LOWEST_DB) + 1e-3 and np.isfinite([result.level, result.peak]).all()
    assert result.lead >= 0 and result.tail >= 0 and result.lead + result.tail <= result.seconds + 1e-9
    assert not is_silent(own) or len(trim_silence(own)) == 0


HUM = (0.1 * np.sin(2 * np.pi * 50 * np.arange(RATE_HZ) / RATE_HZ + 1.0)).astype(np.float32)
CLICK = np.eye(1, RATE_HZ, 8000, dtype=np.float32)[0]


@pytest.mark.parametrize(
    "own",
    [silence(0), silence(1), np.full(RATE_HZ, 0.3, np.float32), noise(1, 3e-4), HUM, CLICK, HUM + np.float32(0.2), vowel(0.005)],
    ids=["empty", "zeros", "offset", "faint noise", "mains hum", "click", "hum and offset", "too short"],
)
def test_silence_from_an_engine_is_recognised_as_silence(own: np.ndarray) -> None:
    assert is_silent(own) and len(trim_silence(own)) == 0


@pytest.mark.parametrize("voice", VOICES)
def test_speech_is_not_silent_even_30_db_down(voice: str) -> None:
    assert not is_silent(spoken(voice, "a cat") * np.float32(10**-1.5))


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("text", ["six thin fish", "a plate of cheese", "hush"])
def test_trimming_keeps_all_speech_and_at_most_the_bound_of_silence(voice: str, text: str) -> None:
    own = spoken(voice, text)
    padded = np.concatenate([silence(0.7), own, silence(0.9)])
    cut = trim_silence(padded)
    result = measure(cut)
    assert result.lead <= BOUND and result.tail <= BOUND
    # All of the energy is there, but for less than a 100,000th: what lies 50 dB down.
    assert np.square(cut, dtype=float).sum() > (1 - 1e-5) * np.square(padded, dtype=float).sum()
    assert np.array_equal(trim_silence(cut), cut) and abs(cut[0]) < 1e-3 and abs(cut[-1]) < 1e-3


def test_a_quiet_fricative_at_either_end_is_kept() -> None:
    fricative = noise(0.15, 0.0005)  # 45 dB below the vowel.
    own = np.concatenate([silence(0.5), fricative, vowel(0.5), fricative, silence(0.5)])
    cut = trim_silence(own)
    assert len(cut) >= int((0.15 + 0.5 + 0.15) * RATE_HZ)
    assert measure(cut).lead <= BOUND and measure(cut).tail <= BOUND


def test_background_noise_around_speech_is_trimmed_with_the_silence() -> None:
    own = noise(3.0, 0.002)
    own[RATE_HZ : 2 * RATE_HZ] += vowel(1.0)
    assert 1.0 <= len(trim_silence(own)) / RATE_HZ <= 1.2


def test_a_clip_without_silence_is_unchanged_and_a_cut_is_faded() -> None:
    own = vowel()
    assert trim_silence(own) is own
    offset = np.concatenate([np.full(RATE_HZ, 1e-4, np.float32), own, np.full(RATE_HZ, 1e-4, np.float32)])
    cut = trim_silence(offset)
    assert len(cut) < len(offset) and abs(cut[0]) < 1e-6 and abs(cut[FADE]) == pytest.approx(1e-4)


SOUNDS = {"silence": silence(1), "noise": noise(1, 0.3), "voice": vowel()}


@settings(max_examples=100, deadline=None)
@example(parts=[("noise", 5918, -37.0), ("noise", 13, 0.0)])
@given(
    parts=st.lists(st.tuples(st.sampled_from(["silence", "noise", "voice"]), st.integers(1, 6000), st.floats(-70, 0)), max_size=6)
)
def test_the_bound_holds_for_any_clip(parts: list[tuple[str, int, float]]) -> None:
    pieces = [np.zeros(0, np.float32)]
    for kind, length, decibels in parts:
        pieces.append(SOUNDS[kind][:length] * np.float32(10 ** (decibels / 20)))
    own = np.concatenate(pieces)
    cut = trim_silence(own)
    assert len(cut) <= len(own)
    if len(cut):
        result = measure(cut)
        assert result.lead <= BOUND and result.tail <= BOUND
        power = frame_power(own)
        # A background that is cut away counts in the level of the whole; silence does not.
        if np.array_equal(_without_background(power), power):
            assert result.level == pytest.approx(measure(own).level, abs=3.0)


@given(
    parts=st.lists(st.tuples(st.sampled_from(["zeros", "noise", "hum", "offset"]), st.integers(1, 9000)), min_size=1, max_size=6),
    gain=st.sampled_from([1e-4, 8e-4, 1e-3, 2e-3, 0.05]),
)
@settings(max_examples=150, deadline=None)
def test_silence_is_equal_with_and_without_a_first_look_at_the_middle(parts: list[tuple[str, int]], gain: float) -> None:
    made = {
        "zeros": lambda count: np.zeros(count),
        "noise": lambda count: np.random.default_rng(count).normal(0, gain, count),
        "hum": lambda count: 0.09 * np.sin(2 * np.pi * 50 * np.arange(count) / RATE_HZ),
        "offset": lambda count: np.full(count, 0.1),
    }
    own = np.concatenate([made[kind](count) for kind, count in parts]).astype(np.float32)
    assert is_silent(own) == (measures._audible_frames(own) < measures.HEARD_FRAMES)
