"""Words of a caption, and phrase lookup that ignores case, accents, hyphens and spaces.

Everything is one pass from left to right, linear in the caption.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from components.core.hashtags import MARKS, SIGNS, fold

_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*")
_GAP = re.compile(rf"[\s\-‐‑–_{SIGNS}]{{0,6}}")


class Word(NamedTuple):
    """A word: its folded form and its span."""

    folded: str
    start: int
    end: int


class PhraseMatch(NamedTuple):
    """A matched phrase: ``after`` is the number of the word behind it; ``start`` and ``end`` are characters."""

    after: int
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    """Return every word, in order."""
    return [Word(fold(match[0]), match.start(), match.end()) for match in _WORD.finditer(text)]


def count_words(text: str) -> int:
    """Return the number of pieces between spaces that hold a letter or a digit."""
    return sum(any(char.isalnum() for char in piece) for piece in text.split())


class Phrases:
    """A set of phrases; a lookup at a word returns the longest match.

    Words may be joined ("audiodescricao" is "audio descricao") but not split elsewhere: "para cego ver em" is not
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
        """All phrases with their words joined, sorted."""
        return sorted(self._breaks)

    def at(self, text: str, words: Sequence[Word], first: int) -> PhraseMatch | None:
        """Return the longest phrase that begins with the word at ``first``; None if there is none."""
        joined, breaks, match = "", set[int](), None
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
                match = PhraseMatch(after + 1, words[first].start, word.end)
        return match
