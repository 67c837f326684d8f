"""Who says what, and how: distributions, and what a draw depends on."""

from __future__ import annotations

import statistics
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.stages.synthesize.prosody import draw_prosody, draw_voice, utterance_digest
from tests.stages.synthesize.support import SPREAD, VOICES

SIX = [*VOICES, "c", "d", "e", "f"]


def test_draws_are_clipped_at_two_deviations_and_have_the_requested_spread() -> None:
    prosodies = [draw_prosody(1, f"r{i}", n, voices=SIX, **SPREAD) for i in range(1000) for n in range(3)]
    for values, mean, sd in (
        ([m.rate for m in prosodies], 1.0, 0.1),
        ([m.pitch for m in prosodies], 0.0, 1.0),
        ([m.gain for m in prosodies], 0.0, 2.0),
    ):
        assert min(values) == pytest.approx(mean - 2 * sd) and max(values) == pytest.approx(mean + 2 * sd)
        assert statistics.mean(values) == pytest.approx(mean, abs=0.1 * sd)
        # A Gaussian clamped at 2 sd keeps .96 of its deviation.
        assert statistics.stdev(values) == pytest.approx(0.96 * sd, rel=0.05)
        assert 0.03 < sum(abs(v - mean) > 1.999 * sd for v in values) / len(values) < 0.06
    assert {voice: pytest.approx(1 / 6, abs=0.03) for voice in SIX} == {
        voice: number / 3000 for voice, number in Counter(m.voice for m in prosodies).items()
    }


def test_the_parameters_are_independent() -> None:
    prosodies = [draw_prosody(1, f"r{i}", 0, voices=VOICES, **SPREAD) for i in range(2000)]
    drawn = [[getattr(m, name) for m in prosodies] for name in ("rate", "pitch", "gain")] + [
        [float(m.voice == VOICES[0]) for m in prosodies]
    ]
    for i, one in enumerate(drawn):
        for other in drawn[:i]:
            assert abs(statistics.correlation(one, other)) < 0.08


def test_a_draw_does_not_depend_on_earlier_draws() -> None:
    forward = {(k, n): draw_prosody(7, k, n, voices=VOICES, **SPREAD) for k in "abc" for n in range(4)}
    backward = {(k, n): draw_prosody(7, k, n, voices=VOICES, **SPREAD) for k in "cba" for n in reversed(range(4))}
    assert forward == backward
    assert draw_prosody(8, "a", 0, voices=VOICES, **SPREAD) != forward["a", 0] != forward["a", 1]


@given(st.text(max_size=20), st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True), st.randoms())
@settings(max_examples=100, deadline=None)
def test_voices_change_only_their_own_speech_in_any_order(record: str, voices: list[str], source: Random) -> None:
    one = draw_prosody(1, record, 0, voices=voices, **SPREAD)
    two = draw_prosody(1, record, 0, voices=[*voices, "z"], **SPREAD)
    assert (one.rate, one.pitch, one.gain) == (two.rate, two.pitch, two.gain)
    assert two.voice in (one.voice, "z")
    source.shuffle(voices)
    assert draw_prosody(1, record, 0, voices=voices, **SPREAD) == one


def test_a_removed_voice_changes_only_its_own_utterances() -> None:
    with_all = {f"r{i}": draw_voice(1, f"r{i}", 0, SIX) for i in range(600)}
    without = {key: draw_voice(1, key, 0, SIX[:-1]) for key in with_all}
    moved = {key for key in with_all if with_all[key] != without[key]}
    assert moved == {key for key, voice in with_all.items() if voice == "f"}
    assert 60 < len(moved) < 140


def test_another_deviation_changes_no_other_parameter() -> None:
    one, two = (draw_prosody(1, "r", 0, voices=VOICES, **{**SPREAD, "pitch_sd": sd}) for sd in (1.0, 2.0))
    assert (one.voice, one.rate, one.gain) == (two.voice, two.rate, two.gain) and one.pitch != two.pitch


def test_the_content_key_contains_everything_that_changes_the_audio() -> None:
    first, second = (draw_prosody(1, "r", n, voices=VOICES, **SPREAD) for n in range(2))
    assert len({utterance_digest("a", first), utterance_digest("b", first), utterance_digest("a", second)}) == 3
