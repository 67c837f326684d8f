"""Word error rates equal jiwer's; words are compared as they are spoken."""

from __future__ import annotations

import random

import jiwer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.metrics.word_errors import (
    DELETED,
    EQUAL,
    INSERTED,
    SUBSTITUTED,
    Step,
    align,
    count_errors,
    error_rate,
    spoken_words,
)

WORDS = st.lists(st.sampled_from(["a", "dog", "cat", "ran", "on", "grass"]), max_size=8)


def test_a_worked_example() -> None:
    result, heard = ["a", "red", "dog", "runs", "on", "grass"], ["a", "dog", "runs", "in", "the", "grass"]
    assert align(result, heard) == [
        Step(EQUAL, "a", "a"),
        Step(DELETED, "red", ""),
        Step(EQUAL, "dog", "dog"),
        Step(EQUAL, "runs", "runs"),
        Step(INSERTED, "", "in"),
        Step(SUBSTITUTED, "on", "the"),
        Step(EQUAL, "grass", "grass"),
    ]
    assert count_errors(result, heard) == 3
    assert count_errors("kitten", "sitting") == 3


@given(WORDS, WORDS)
def test_an_alignment_reproduces_both_texts_with_the_fewest_errors(said: list[str], heard: list[str]) -> None:
    steps = align(said, heard)
    assert [step.said for step in steps if step.said] == said
    assert [step.heard for step in steps if step.heard] == heard
    assert sum(step.kind != EQUAL for step in steps) == count_errors(said, heard) == count_errors(heard, said)


@given(st.lists(st.tuples(WORDS.filter(bool), WORDS), min_size=1, max_size=6))
def test_the_rates_equal_the_published_tools(pairs: list[tuple[list[str], list[str]]]) -> None:
    result, heard = [" ".join(a) for a, _ in pairs], [" ".join(b) for _, b in pairs]
    words = error_rate([(count_errors(a, b), len(a)) for a, b in pairs], seed=1, resamples=1)
    letters = error_rate([(count_errors(a, b), len(a)) for a, b in zip(result, heard, strict=True)], seed=1, resamples=1)
    assert words is not None and words.value == pytest.approx(jiwer.wer(result, heard))
    assert letters is not None and letters.value == pytest.approx(jiwer.cer(result, heard))


def test_long_recordings_weigh_more_than_short_ones() -> None:
    result = error_rate([(2, 2), (0, 98)], seed=1, resamples=200)
    assert result is not None and result.value == pytest.approx(0.02)


def test_the_interval_contains_the_true_rate_at_its_stated_frequency() -> None:
    source, held = random.Random(3), 0
    for _ in range(200):
        counts = [(sum(source.random() < 0.3 for _ in range(10)), 10) for _ in range(40)]
        result = error_rate(counts, seed=1, resamples=200)
        assert result is not None and result.low <= result.value <= result.high
        held += result.low <= 0.3 <= result.high
    assert 0.88 <= held / 200 <= 0.99


def test_a_set_without_words_has_no_rate() -> None:
    assert error_rate([], seed=1, resamples=10) is None
    assert error_rate([(2, 0)], seed=1, resamples=10) is None


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("A Mandarin duck.", "a mandarin duck", "en"),
        ("Don't stop!", "dont stop", "en"),
        ("a tee-shirt", "A tee shirt...", "en"),
        ("three dogs", "3 dogs.", "en"),
        ("twenty-one pilots", "21 pilots", "en"),
        ("one thousand two hundred", "1,200", "en"),
        ("the first snow", "The 1st snow", "en"),
        ("salt and pepper", "Salt & pepper", "en"),
        ("two point five percent", "2.5%", "en"),
        ("Un pingüino", "¡un pingüino!", "es"),
        ("l’ours", "l'ours", "fr"),
        ("cafe\u0301", "caf\u00e9", "fr"),
    ],
)
def test_spellings_with_equal_speech_have_equal_words(one: str, other: str, language: str) -> None:
    assert spoken_words(one, language) == spoken_words(other, language)


def test_different_words_stay_different() -> None:
    assert spoken_words("pinguino", "es") != spoken_words("pingüino", "es")
    assert spoken_words("3", "fr") == ["3"]
    assert spoken_words("...", "en") == []


@given(st.text(max_size=60), st.sampled_from(["en", "fr", "zh"]))
def test_normalisation_gives_words_without_white_space_and_is_idempotent(text: str, language: str) -> None:
    words = spoken_words(text, language)
    assert all(word and word.split() == [word] for word in words)
    assert spoken_words(" ".join(words), language) == words
