"""Parses and the small extract of the dictionary, for the tests of metrics that read sentences."""

from __future__ import annotations

from functools import lru_cache

from components.language.metric_lexicon import WordNetLexicon
from components.metrics.caption_parses import parse_captions
from components.metrics.parses import Parses, Sentence
from tests.support.knowledge.dictionary import EXTRACT, extract


@lru_cache(maxsize=1)
def lexicon() -> WordNetLexicon:
    """Over the extract of WordNet that lies with the tests."""
    return WordNetLexicon(extract(), EXTRACT)


@lru_cache(maxsize=256)
def sentence(caption: str) -> Sentence:
    """One caption, parsed."""
    return parse_captions([caption], "en")[caption]


def parses(*captions: str) -> Parses:
    """Several captions, parsed."""
    return Parses({caption: sentence(caption) for caption in captions})


class Table:
    """A dictionary of a few words: each word's meanings as a noun, and what lies above a meaning."""

    def __init__(self, nouns: dict[str, tuple[int, ...]], above: dict[int, frozenset[int]] | None = None) -> None:
        self._nouns, self._above = nouns, above or {}

    def meanings(self, word: str) -> frozenset[int]:
        return frozenset(self.nouns(word))

    def nouns(self, phrase: str) -> tuple[int, ...]:
        return self._nouns.get(phrase, ())

    def above(self, number: int) -> frozenset[int]:
        return self._above.get(number, frozenset())

    def depth(self, number: int) -> int:
        return len(self.above(number))
