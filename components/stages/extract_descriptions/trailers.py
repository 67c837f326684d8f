"""Remains at the end of a description that are less than a segment: torn words, words that cannot end a sentence, loose marks."""

from __future__ import annotations

import re
from functools import lru_cache

from components.core.hashtags import MARKS
from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.words import words_of

_TORN = re.compile(rf"(?:(?<=\s)|^)[{MARKS}]\S*")
_LOOSE = re.compile(r"(?<=\w[.!?…])(?:\s+[-–—•|*~/.]+)+$")
_LOOSE_QUOTES = (("“", "”", re.compile(r"(?<=[.!?…])\s*”\s*\.?$")), ('"', '"', re.compile(r"(?<=[.!?…])\s*\"\s*\.?$")))
_LANGUAGES = ("pt", "en", "es", "fr", "it")
_COMMON, _SHORT, _LEAST, _WORDS = 3.5, 5.5, 10, 3
_PAIRS = frozenset(("de", "da", "do", "em", "no", "na", "of", "to", "in", "on", "is", "my", "me", "by"))
"""Least Zipf frequency of a hashtag's words (``_SHORT``: of three letters; ``_PAIRS``: of two), letters of a hashtag inside a
sentence, number of its words."""
_FREQUENT = 5.0
"""Least Zipf frequency of a frequent word."""
_LONGEST = 40
_MOST_DANGLING = 8
"""Bounds of the work on a text made to be slow."""


def without_torn_words(text: str) -> str:
    """Return the text without words that begin with a combining mark: a cut inside a decomposed letter left them."""
    return _TORN.sub("", text)


def without_dangling(text: str, rules: Rules) -> str:
    """Return the text without words at its end that cannot end a sentence ("barcos e a."), and without a hashtag's words."""
    for _ in range(_MOST_DANGLING):
        text = _without_loose_marks(text)
        bare = text.rstrip(" \t\r\n.,;:-–—")
        if bare[-1:] in ('"', "”", "»", "'", "’", ")"):
            break
        start = max(bare.rfind(" "), bare.rfind("\n")) + 1
        last, before = bare[start:], words_of(bare[max(0, start - 30) : start])
        if not before:
            break
        governed = bare[:start].split()[-1] in rules.stranded
        stranded = last in rules.stranded and before[-1].folded not in rules.lettered
        if not (stranded or (_LEAST <= len(last) <= _LONGEST and not governed and _is_hashtag(last))):
            break
        text = bare[:start].rstrip(" \t\r\n,;:-–—")
    return text


def _without_loose_marks(text: str) -> str:
    """Return the text without dashes behind its final stop, and without a closing quotation mark there that nothing opens."""
    text = _LOOSE.sub("", text)
    for opening, closing, pattern in _LOOSE_QUOTES:
        opened = text.count(opening) % 2 == 0 if opening == closing else text.count(opening) >= text.count(closing)
        if not opened:
            text = pattern.sub("", text)
    return text


@lru_cache(maxsize=4096)
def _zipf(word: str) -> float:
    """Return the highest Zipf frequency of a word among languages that posts are written in."""
    from wordfreq import zipf_frequency  # slow to load; only the ends of few descriptions need it

    return max(zipf_frequency(word.lower(), language) for language in _LANGUAGES)


def is_known(word: str) -> bool:
    """Return whether a word is in the word list of a language that posts are written in."""
    return _zipf(word) > 0


def is_common(word: str) -> bool:
    """Return whether a word is frequent in a language that posts are written in."""
    return _zipf(word) >= _FREQUENT


def _is_hashtag(word: str) -> bool:
    """Return whether an unknown word in lower case splits into three or more common words ("lovelybluesky")."""
    if not re.fullmatch(r"[a-zà-ÿ]+", word) or _zipf(word) > 0:
        return False
    fewest: list[int | None] = [0, *[None] * len(word)]
    for end in range(2, len(word) + 1):
        for start in range(end - 1):
            known, piece = fewest[start], word[start:end]
            common = piece in _PAIRS if len(piece) == 2 else _zipf(piece) >= (_SHORT if len(piece) == 3 else _COMMON)
            if known is not None and common:
                fewest[end] = min(known + 1, fewest[end] or len(word))
    return (fewest[-1] or 0) >= _WORDS
