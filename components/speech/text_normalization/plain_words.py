"""A fast test for texts of plain words, which no rule changes."""

from __future__ import annotations

import re
from functools import cache

from components.speech.text_normalization.abbreviations import STREETS
from components.speech.text_normalization.language import Language


@cache
def _plain(language: Language) -> re.Pattern[str]:
    small = language.alphabet
    word = f"[{small}{small.upper()}][{small}]+(?:['-][{small.upper()}]?[{small}]+)*"
    single = "|".join(sorted(language.singles))
    if language.code == "en":
        single = "a|A"
    token = f"(?:{word}|{single})"
    return re.compile(f"(?:{word})[.,;:?!]?|(?:{token})(?:[,;:?!]? {token})+[.?!]?")


@cache
def _words(language: Language) -> frozenset[str]:
    """Return the plain-looking words, in lower case, that a rule changes."""
    return (
        frozenset(language.bare)
        | language.titles
        | (frozenset(STREETS) if language.code == "en" else frozenset())
        | {key.strip() for key in language.replaced}
        | {f"{numeral}{ending}" for numeral in "ivx" for ending in language.roman_suffixes}
    )


@cache
def _before_dot(language: Language) -> frozenset[str]:
    keys = (*language.abbreviations, *language.before_digits)
    return frozenset(re.split(r"[ .]", key.removesuffix("~"))[-1] for key in keys)


def is_plain(text: str, language: Language) -> bool:
    """Return whether a text is words, single spaces and sentence marks alone, and no abbreviation among them."""
    if not _plain(language).fullmatch(text):
        return False
    words = text.lower().replace(",", "").replace("-", " ").split(" ")
    if not _words(language).isdisjoint(words):
        return False
    return not (text[-1] == "." and words[-1][:-1] in _before_dot(language))
