"""What holds of any text at all: it never raises, and what is said is letters and sentence marks, once and for all."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.speech.text_normalization import RULES, NormalisedText, RejectedText, languages, normalise_for_speech
from components.speech.text_normalization.language import language_of

LIMIT = 400
_PIECES = """
    a A x dog cat the St. Dr. No. no. vs etc. e.g. i.e. U.S. F.B.I. M. Mme Sr. Av. p. ex. J. K. & + = @ # / | ~ * _ ^ < > ( ) [ ]
    © ™ … – — - -- ' " “ ” ’ 1 2 10 12 007 1990s '90s 1.5 1,5 1,234 1.234,56 1/2 ½ 3:30 15h30 pm am $5 €3,50 R$ 20 % ° °C km m²
    mph { }     5'10" 1920x1080 XIX XIXe IV I Louis século siècle siglo A319 4x4 3D H2O mp3 IMG_2043.jpg #SunsetBeach @john_doe
    www.example.com a@b.com https://x.io/a <UNK> <b> &amp; &#233; CamelCase USA CDs NASA DON'T L'ÉTÉ d'or n't 's é ã ñ œ ß ø
    Москва 日本 😀 👨‍👩‍👧 ﬁ Ａ ² º ª № 2017-09-23 23/09/2017 September 23 , . ; : ? ! ... !!!! w/ c/ b&w 555-123-4567 1990's '
    10⁶ x² ^ 10^-3 5/6 1º 3.ª 1er 2nd 40°42'46"N 5ft 10in in. ★ ♥ <3 I CA 90210 BR-101 AP-7 II-III Psalm 23:4 9:00-5pm Mon-Fri
    €/m² 85/km² 2€50 $10-20 .5 ,500.00 1.000.000 v2.3.1 VIII's XV Ju 1½ 24h/24 60' 1h30min M. c.à.c. s/n
    +33 (0)1 23 45 (-1 =
"""
PIECES = st.sampled_from(_PIECES.split()) | st.text(max_size=4)
TEXTS = st.text(max_size=60) | st.lists(PIECES, max_size=10).flatmap(
    lambda parts: st.sampled_from([" ", ""]).map(lambda joint: joint.join(parts))
)
"""Anything, and things that rules look for beside and inside one another."""


@pytest.mark.long
@pytest.mark.parametrize("language", languages())
@settings(max_examples=400, deadline=None)
@given(text=TEXTS)
@example(text="\ud800 lone surrogate")
@example(text="9" * 300)
@example(text="")
def test_any_text_is_normalised_to_letters_and_marks_or_refused_by_a_rule(language: str, text: str) -> None:
    result = normalise_for_speech(text, language, max_characters=LIMIT)
    if isinstance(result, RejectedText):
        assert result.rule in RULES
        return
    letters = language_of(language).alphabet  # type: ignore[union-attr]
    assert re.fullmatch(rf"[{letters}{letters.upper()}'\- .,;:?!]+", result.text)
    assert sum(character.isalpha() for character in result.text) >= 2
    assert result.text == " ".join(result.text.split())
    assert len(result.text) <= LIMIT


@pytest.mark.parametrize("language", languages())
@settings(max_examples=400, deadline=None)
@given(text=TEXTS)
def test_normalised_text_is_unchanged_by_normalisation(language: str, text: str) -> None:
    result = normalise_for_speech(text, language, max_characters=LIMIT)
    if isinstance(result, NormalisedText):
        assert normalise_for_speech(result.text, language, max_characters=LIMIT) == NormalisedText(result.text, ())


@pytest.mark.parametrize("language", languages())
@settings(max_examples=100, deadline=None)
@given(number=st.integers(0, 10**15 - 1), more=st.integers(1, 1000))
def test_every_number_has_different_words(language: str, number: int, more: int) -> None:
    tables = language_of(language)
    assert tables is not None
    assert tables.cardinal(number, "") != tables.cardinal((number + more) % 10**15, "")
    assert re.fullmatch(rf"[{tables.alphabet}' -]+", tables.cardinal(number, "f"))


@pytest.mark.parametrize("language", languages())
def test_cardinals_and_ordinals_are_all_different(language: str) -> None:
    tables = language_of(language)
    assert tables is not None
    assert len({tables.cardinal(number, "") for number in range(20_000)}) == 20_000
    assert len({tables.ordinal(number, False) for number in range(1, 1000)}) == 999


def test_a_text_longer_than_allowed_is_refused_before_and_after() -> None:
    assert normalise_for_speech("a dog " * 1000, "en", max_characters=5000) == RejectedText(
        "too_long", "6000", "<= 5000 characters"
    )
    result = normalise_for_speech("9 " * 200, "en", max_characters=400)
    assert isinstance(result, RejectedText)
    assert result.rule == "too_long"


@pytest.mark.parametrize("language", languages())
def test_a_long_row_of_amounts_is_read(language: str) -> None:
    result = normalise_for_speech("$1, " * 1200, language, max_characters=50_000)
    assert isinstance(result, NormalisedText)


def test_a_language_without_tables_is_refused_by_name() -> None:
    assert normalise_for_speech("ein Hund", "de", max_characters=100) == RejectedText("language", "de", "one of: en, pt, fr, es")


def test_only_white_space_is_empty() -> None:
    for text in ("", "  ", "\n\t\u00a0"):
        assert normalise_for_speech(text, "en", max_characters=100) == RejectedText("empty", "", "text")


def test_a_small_share_of_another_script_drops_its_words_and_a_large_one_the_text() -> None:
    few = normalise_for_speech("the red square of Москва", "en", max_characters=100)
    assert isinstance(few, NormalisedText)
    assert few.text == "the red square of"
    assert [step.rule for step in few.steps][:1] == ["other_script"]
    many = normalise_for_speech("red Красная площадь", "en", max_characters=100)
    assert isinstance(many, RejectedText)
    assert (many.rule, many.value) == ("wrong_script", "0.82")


def test_steps_have_the_rule_the_text_before_and_the_text_after() -> None:
    result = normalise_for_speech("Mr. Smith & 2 dogs 😀", "en", max_characters=100)
    assert isinstance(result, NormalisedText)
    assert result.text == "Mister Smith and two dogs"
    assert {("emoji", "😀", ""), ("number", "2", "two"), ("abbreviation", "Mr.", "Mister"), ("symbol", "&", "and")} <= {
        (step.rule, step.before, step.after) for step in result.steps
    }
