"""Text normalisation for speech: from a caption as written to plain words for a voice.

Input: a text and its language. Output: words in the language's letters with sentence marks, and the steps that led there; or
the rule by which the text is rejected. Pure, deterministic and idempotent functions. Out of scope: voices, translation, and
language identification. docs/captions-to-speech.md has examples.
"""

from __future__ import annotations

from dataclasses import dataclass

from components.speech.text_normalization.abbreviations import contract, say_abbreviations, say_before_digits, say_phrases
from components.speech.text_normalization.capitals import is_shouting, say_capitals, say_letters, say_mixed, say_roads
from components.speech.text_normalization.characters import fold_characters, is_plain
from components.speech.text_normalization.dates import say_dates, say_decades, say_times, say_weekdays
from components.speech.text_normalization.draft import Draft, Step
from components.speech.text_normalization.figures import join_groups, say_codes
from components.speech.text_normalization.language import language_of, languages
from components.speech.text_normalization.marks import part, say_symbols, tidy
from components.speech.text_normalization.measures import say_degrees, say_money, say_powers, say_prices, say_rates, say_units
from components.speech.text_normalization.quantities import join_figures, say_fractions, say_numbers, say_ordinals
from components.speech.text_normalization.roman import say_roman
from components.speech.text_normalization.web_text import say_addresses, split_camel, strip_markup

__all__ = ["RULES", "NormalisedText", "RejectedText", "Step", "languages", "normalise_for_speech"]

RULES = ("empty", "language", "no_words", "too_long", "too_short", "wrong_script")
"""Rules by which a text is rejected."""
FOREIGN = 0.5
"""Maximum share of letters of other scripts."""
LETTERS = 2
"""Minimum number of letters: "A" or "x" describe nothing."""
_ROUNDS = 8


@dataclass(frozen=True)
class NormalisedText:
    """The text for the voice, and the changes in order."""

    text: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class RejectedText:
    """Why a text is rejected: rule, value and threshold for the ledger."""

    rule: str
    value: str
    threshold: str


def normalise_for_speech(text: str, language: str, *, max_characters: int) -> NormalisedText | RejectedText:
    """Return the text normalised for a voice, or why it is rejected.

    Args:
        text: any text.
        language: ISO 639-1, one of :func:`languages`.
        max_characters: limit of the text before and after normalisation.
    """
    tables = language_of(language)
    if tables is None:
        return RejectedText("language", language, f"one of: {', '.join(languages())}")
    if len(text) > max_characters:
        return RejectedText("too_long", str(len(text)), f"<= {max_characters} characters")
    if is_plain(text, tables):
        return NormalisedText(text, ())
    if not text.strip():
        return RejectedText("empty", "", "text")
    draft = Draft(text, tables)
    for _ in range(_ROUNDS):
        before = draft.text
        foreign = _apply_rules(draft)
        if foreign > FOREIGN:
            return RejectedText("wrong_script", f"{foreign:.2f}", f"<= {FOREIGN} of the letters in other scripts")
        if draft.text == before or is_plain(draft.text, tables):
            break
        if len(draft.text) > max_characters:
            return RejectedText("too_long", str(len(draft.text)), f"<= {max_characters} characters as said")
    letters = sum(character.isalpha() for character in draft.text)
    if letters == 0:
        return RejectedText("no_words", text.strip(), "a word")
    if letters < LETTERS or (sum(character.isalnum() for character in text) < LETTERS and not any(map(str.isdecimal, text))):
        return RejectedText("too_short", text.strip(), f">= {LETTERS} letters")
    if len(draft.text) > max_characters:
        return RejectedText("too_long", str(len(draft.text)), f"<= {max_characters} characters as said")
    return NormalisedText(draft.text, tuple(draft.steps))


def _apply_rules(draft: Draft) -> float:
    """Apply all rules to a draft once, in order; return its share of letters of other scripts.

    Characters, markup and addresses come first, then figures, from the most specific forms to bare numbers, then abbreviations
    and capitals, and marks last. A rule outputs words, or figures for a later rule.
    """
    strip_markup(draft)
    foreign = fold_characters(draft)
    draft.shouting = is_shouting(draft.text)
    say_addresses(draft)
    say_phrases(draft)
    say_weekdays(draft)
    say_roads(draft)
    say_before_digits(draft)
    say_rates(draft)
    if draft.has_digits:
        join_groups(draft)
        say_dates(draft)
        say_times(draft)
        say_codes(draft)
        say_decades(draft)
        say_powers(draft)
        say_degrees(draft)
        join_figures(draft)
        say_prices(draft)
        say_money(draft)
        say_units(draft)
        say_fractions(draft)
        say_ordinals(draft)
        say_mixed(draft)
        say_numbers(draft)
        contract(draft)
    say_abbreviations(draft)
    say_roman(draft)
    split_camel(draft)
    say_capitals(draft)
    say_symbols(draft)
    part(draft)
    say_letters(draft)
    tidy(draft)
    return foreign
