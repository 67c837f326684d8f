"""Replaces symbols by words, drops all but letters and sentence marks, and tidies the marks."""

from __future__ import annotations

import re
from functools import cache

from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.language import Language

_PARTED = re.compile(r"\s*(?:[|•]+|\s-+(?=\s)|--+|[–—]+|\.{2,}(?=\s*\S))\s*|(?<=\w)\s?[()\[\]{}]+\s?|[()\[\]{}]+")
_PARTING = re.compile(r"[|•–—()\[\]{}-]|\.\.")
"""What every match of ``_PARTED`` has; much faster to find."""
_EQUALS = re.compile(r"(?<=[\w)])\s*=\s*(?=[\w(])")
_QUOTES = re.compile(r"(?<![^\W_])'+|'+(?![^\W_])")
_HYPHENS = re.compile(r"(?<![^\W_])-+|-+(?![^\W_])")
_REPEATED = re.compile(r"([.,;:?!])(?:\s*[.,;:?!])+")
_BEFORE_MARK = re.compile(r"\s+(?=[.,;:?!])")
_AFTER_MARK = re.compile(r"(?<=[.,;:?!])(?=[^\s.,;:?!])")
_LEADING = re.compile(r"^[\s.,;:?!'-]+")
_TRAILING = re.compile(r"[\s,;:'-]+$")
_SPACES = re.compile(r"\s{2,}|[^\S ]")
_STRENGTH = {mark: place for place, mark in enumerate(",;:.!?")}


@cache
def _symbols(language: Language) -> re.Pattern[str]:
    return re.compile("[" + "".join(re.escape(symbol) for symbol in language.symbols if symbol != "=") + "]")


@cache
def _rest(language: Language) -> re.Pattern[str]:
    letters = language.alphabet + language.alphabet.upper()
    return re.compile(f"[^{letters}'\\- .,;:?!]+")


def say_symbols(draft: Draft) -> None:
    """Replace ``&``, ``+``, ``=`` between words, Greek letters and other symbols by their names."""
    language = draft.language
    draft.sub("symbol", _EQUALS, lambda match: f" {language.symbols['=']} ")
    draft.sub("symbol", _symbols(language), lambda match: f" {language.symbols[match[0]]} ")


def part(draft: Draft) -> None:
    """Replace brackets, dashes, bars and bullets by commas."""
    if _PARTING.search(draft.text):
        draft.sub("marks", _PARTED, lambda match: ", ")


def tidy(draft: Draft) -> None:
    """Keep only letters, apostrophes and hyphens inside words, single spaces and single sentence marks."""
    draft.sub("symbols", _rest(draft.language), lambda match: " ")
    text = draft.text
    before = None
    while text != before:
        before = text
        if "'" in text or "-" in text:
            text = _HYPHENS.sub(" ", _QUOTES.sub(" ", text))
        text = _REPEATED.sub(lambda match: max(re.sub(r"\s", "", match[0]), key=_STRENGTH.__getitem__), text)
        text = _AFTER_MARK.sub(" ", _BEFORE_MARK.sub("", _SPACES.sub(" ", text)))
        text = _TRAILING.sub("", _LEADING.sub("", text))
    if text != draft.text.strip():
        draft.record("marks", draft.text.strip(), text)
    draft.text = text
