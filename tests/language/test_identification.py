"""The language score of short texts: English is kept and other languages are not, at the filter's own threshold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.language.identification import COMPARED, combined_probability, language_probability
from components.stages.filter import Params

THRESHOLD = Params().min_language


def texts(part: str, language: str) -> list[str]:
    """The texts of one part in one language (French, Spanish, Portuguese, German, Italian and Dutch are ``other``)."""
    lines = (Path(__file__).parent / "short_texts.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return [text for its_part, its_language, text in rows if (its_part, its_language) == (part, language)]


@pytest.mark.parametrize("text", ["A boat sails across Lake Como on a sunny day", "A prune.", "Teddy bear."])
def test_english_is_kept_where_the_model_ranks_other_languages_higher(text: str) -> None:
    assert language_probability(text, "en") < 0.1, "the model alone tells: the case shows nothing"
    assert combined_probability(text, "en") >= THRESHOLD


@pytest.mark.parametrize("part", ["built", "heldout"])
def test_english_captions_are_kept(part: str) -> None:
    given_texts = texts(part, "en")
    dropped = [text for text in given_texts if combined_probability(text, "en") < THRESHOLD]
    assert len(given_texts) >= 40 and len(dropped) <= 0.04 * len(given_texts), dropped


@pytest.mark.parametrize("part", ["built", "heldout"])
def test_captions_in_other_languages_are_dropped(part: str) -> None:
    given_texts = texts(part, "other")
    kept = [text for text in given_texts if combined_probability(text, "en") >= THRESHOLD]
    assert len(given_texts) >= 40 and len(kept) <= 0.04 * len(given_texts), kept


def test_words_are_asked_only_where_the_model_doubts() -> None:
    text = "Two dogs play in the snow"
    assert combined_probability(text, "en") == language_probability(text, "en") > 0.5


def test_a_language_without_word_lists_is_scored_by_the_model_alone() -> None:
    assert "eo" not in COMPARED
    assert combined_probability("La tour Eiffel la nuit", "eo") == language_probability("La tour Eiffel la nuit", "eo")


def test_a_text_without_letters_is_accepted_in_every_language() -> None:
    assert combined_probability("42 - 7", "en") == language_probability("", "pt") == 1.0


@given(st.text(max_size=60), st.sampled_from(["en", "pt", "xx"]))
def test_every_text_has_a_probability(text: str, language: str) -> None:
    assert 0 <= combined_probability(text, language) <= 1


def test_a_very_long_text_has_a_probability() -> None:
    assert combined_probability("ein Hund läuft über die Straße " * 2000, "en") < THRESHOLD
