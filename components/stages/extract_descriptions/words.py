"""Words of a caption, and phrases found among them whatever their case, accents, hyphens and spaces.

Everything here is one pass from left to right, so it is linear in the caption.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

MARKS = "\u0300-\u036f"
"""Combining accents: an "ã" may come as "a" and a tilde."""
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*")
_GAP = re.compile(r"[\s\-‐‑–_#＃]{0,6}")


class Word(NamedTuple):
    """A word: how it is compared, and where it stands."""

    folded: str
    start: int
    end: int


class Found(NamedTuple):
    """A phrase found: from the word at ``first`` up to the word before ``after``; ``start`` and ``end`` are characters."""

    first: int
    after: int
    start: int
    end: int


def fold(text: str) -> str:
    """Lower case, no accents, compatibility letters as plain ones ("𝗣𝗿𝗮" is "pra")."""
    if text.isascii():
        return text.lower()
    return "".join(char for char in unicodedata.normalize("NFKD", text).casefold() if not unicodedata.combining(char))


def words_of(text: str) -> list[Word]:
    """Every word, in order."""
    return [Word(fold(match[0]), match.start(), match.end()) for match in _WORD.finditer(text)]


def count_words(text: str) -> int:
    """How many pieces between spaces hold a letter or a digit."""
    return sum(any(char.isalnum() for char in piece) for piece in text.split())


class Phrases:
    """A set of phrases, looked for at a word: the longest wins.

    Words may be run together ("audiodescricao" is "audio descricao"), never parted elsewhere: "para cego ver em" is not
    "para cego verem".
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._breaks: dict[str, set[frozenset[int]]] = {}
        for phrase in phrases:
            parts = [word.folded for word in words_of(phrase)]
            breaks = frozenset(accumulate(len(part) for part in parts[:-1]))
            self._breaks.setdefault("".join(parts), set()).add(breaks)
        self._beginnings = frozenset(whole[:length] for whole in self._breaks for length in range(1, len(whole) + 1))

    @property
    def wholes(self) -> list[str]:
        """Every phrase, run together, in order."""
        return sorted(self._breaks)

    def at(self, text: str, words: Sequence[Word], first: int) -> Found | None:
        """The longest phrase that begins with the word at ``first``; None if there is none."""
        joined, breaks, found = "", set[int](), None
        for after in range(first, len(words)):
            word = words[after]
            if after > first:
                if not _GAP.fullmatch(text, words[after - 1].end, word.start):
                    break
                breaks.add(len(joined))
            joined += word.folded
            if joined not in self._beginnings:
                break
            if any(breaks <= allowed for allowed in self._breaks.get(joined, ())):
                found = Found(first, after + 1, words[first].start, word.end)
        return found

    def __contains__(self, phrase: str) -> bool:
        """Whether these letters, run together, are one of the phrases."""
        return phrase in self._breaks
