"""The language score of short texts: English is kept and other languages are not, at the filter's own threshold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.language.identification import COMPARED, identify, language_probability
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
    assert identify(text, "en").probability >= THRESHOLD


@pytest.mark.parametrize("part", ["built", "heldout"])
def test_english_captions_are_kept(part: str) -> None:
    given_texts = texts(part, "en")
    dropped = [text for text in given_texts if identify(text, "en").probability < THRESHOLD]
    assert len(given_texts) >= 40 and len(dropped) <= 0.04 * len(given_texts), dropped


@pytest.mark.parametrize("part", ["built", "heldout"])
def test_captions_in_other_languages_are_dropped(part: str) -> None:
    given_texts = texts(part, "other")
    kept = [text for text in given_texts if identify(text, "en").probability >= THRESHOLD]
    assert len(given_texts) >= 40 and len(kept) <= 0.04 * len(given_texts), kept


def test_words_are_asked_only_where_the_model_doubts() -> None:
    text = "Two dogs play in the snow"
    assert identify(text, "en").probability == language_probability(text, "en") > 0.5


def test_a_language_without_word_lists_is_scored_by_the_model_alone() -> None:
    assert "eo" not in COMPARED
    assert identify("La tour Eiffel la nuit", "eo").probability == language_probability("La tour Eiffel la nuit", "eo")


def test_the_best_guess_is_the_language_that_is_likelier_than_the_one_asked_for() -> None:
    german = identify("Ein Mann mit einem Hund am Strand", "en")
    assert german.best == "de" and german.best_probability > 0.9 > 0.001 > german.probability
    english = identify("A prune.", "en")
    assert english.best != "en" and english.best_probability >= english.probability > THRESHOLD
    assert identify("Two dogs play in the snow", "en").best == "en"


def test_a_text_without_letters_is_accepted_in_every_language() -> None:
    assert identify("42 - 7", "en").probability == language_probability("", "pt") == 1.0


@given(st.text(max_size=60), st.sampled_from(["en", "pt", "xx"]))
def test_every_text_has_a_probability(text: str, language: str) -> None:
    assert 0 <= identify(text, language).probability <= 1


def test_a_very_long_text_has_a_probability() -> None:
    assert identify("ein Hund läuft über die Straße " * 2000, "en").probability < THRESHOLD
