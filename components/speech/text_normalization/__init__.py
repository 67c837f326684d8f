"""Text made speakable: what a voice is given instead of a caption as it was written.

In: a text and its language. Out: plain words of the language's letters, with sentence marks for the prosody, and the steps
that led there; or the rule by which nothing can be said. Pure functions: no network, no draws, the same answer always.
What is said already comes back as it is, so that saying a text twice changes nothing. Not in scope: the voices, the
translation of words, and whether the text is in the language it is said to be in. docs/captions-to-speech.md has examples.
"""

from __future__ import annotations

from dataclasses import dataclass

from components.speech.text_normalization.draft import Draft, Step
from components.speech.text_normalization.language import languages

__all__ = ["RULES", "Spoken", "Step", "Unspeakable", "languages", "speakable"]

RULES = ("empty", "language", "no_words", "too_long", "too_short", "wrong_script")
"""Why a text is not speakable."""
FOREIGN = 0.5
"""A text with a greater share of letters of another script is not in the language."""
LETTERS = 2
"""Fewer letters than this are not said: "A" or "x" describe nothing."""
_ROUNDS = 8


@dataclass(frozen=True)
class Spoken:
    """What the voice is given, and what was changed to get there, in order."""

    text: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Unspeakable:
    """Why a text cannot be said: the rule, what was found and what it was held to, as a ledger has them."""

    rule: str
    value: str
    threshold: str


def speakable(text: str, language: str, *, max_characters: int) -> Spoken | Unspeakable:
    """Return the text as a voice of the language (ISO 639-1) should be given it.

    Args:
        text: any text.
        language: one of :func:`languages`.
        max_characters: neither the text nor what is said of it may be longer.
    """
    from components.speech.text_normalization.language import language_of
    from components.speech.text_normalization.plain import is_plain
    from components.speech.text_normalization.rules import apply

    tables = language_of(language)
    if tables is None:
        return Unspeakable("language", language, f"one of: {', '.join(languages())}")
    if len(text) > max_characters:
        return Unspeakable("too_long", str(len(text)), f"<= {max_characters} characters")
    if is_plain(text, tables):
        return Spoken(text, ())
    if not text.strip():
        return Unspeakable("empty", "", "text")
    draft = Draft(text, tables)
    for _ in range(_ROUNDS):
        before = draft.text
        foreign = apply(draft)
        if foreign > FOREIGN:
            return Unspeakable("wrong_script", f"{foreign:.2f}", f"<= {FOREIGN} of the letters in other scripts")
        if draft.text == before or is_plain(draft.text, tables):
            break
        if len(draft.text) > max_characters:
            return Unspeakable("too_long", str(len(draft.text)), f"<= {max_characters} characters as said")
    letters = sum(character.isalpha() for character in draft.text)
    if letters == 0:
        return Unspeakable("no_words", text.strip(), "a word")
    if letters < LETTERS or (sum(character.isalnum() for character in text) < LETTERS and not any(map(str.isdecimal, text))):
        return Unspeakable("too_short", text.strip(), f">= {LETTERS} letters")
    if len(draft.text) > max_characters:
        return Unspeakable("too_long", str(len(draft.text)), f"<= {max_characters} characters as said")
    return Spoken(draft.text, tuple(draft.steps))
