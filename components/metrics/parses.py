"""Parsed captions for the caption metrics: words with tags, heads and text positions.

Parses are passed in as data (the columns of ``components/language/parser.py``, made by ``caption_parses.py``), so that no metric
loads a model. English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

UNKNOWN = "<unk>"
"""Lemma of an unknown word (``<UNK>``, ``[UNK]``)."""
UNKNOWN_SPELLINGS = ("<unk>", "[unk]")
STAND_IN = "thing"
"""Replacement of an unknown word for the parser, of equal length, so that text positions stay."""
_LEMMAS = {"rid": "ride", "shin": "shine"}
"""Wrong lemmas of the small English model in simple captions ("riding") → the right ones."""


class Word(NamedTuple):
    """A word of a parsed caption; the tags are the parser's (``components/language/parser.py``)."""

    text: str
    lemma: str
    """In lower case."""
    pos: str
    tag: str
    dep: str
    head: int
    """Index of its governor in the sentence; its own index for a root."""
    start: int
    """Index of its first character in the caption."""

    @property
    def end(self) -> int:
        """Index after its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class Sentence:
    """A parsed caption."""

    words: tuple[Word, ...]

    @staticmethod
    def of(parse: Mapping[str, Any], caption: str) -> Sentence:
        """Return the words of a parse's columns.

        Args:
            parse: ``text``, ``space``, ``lemma``, ``pos``, ``tag``, ``dep`` and ``head``, each a list with an entry a word.
            caption: the original text, with as many characters as the parse; shows which words replace unknown ones.

        Raises:
            ValueError: the columns differ in length, a head is out of range, or the heads form a cycle.
        """
        words: list[Word] = []
        start = 0
        columns = (parse[name] for name in ("text", "space", "lemma", "pos", "tag", "dep", "head"))
        rows = list(zip(*columns, strict=True))
        for text, space, lemma, pos, tag, dep, head in rows:
            if not 0 <= head < len(rows):
                raise ValueError(f"the parse of {caption!r} has a head out of range")
            if caption[start : start + len(text)].lower() in UNKNOWN_SPELLINGS:
                text, lemma = caption[start : start + len(text)], UNKNOWN
            lemma, dep = lemma.lower(), "ROOT" if head == len(words) else dep
            words.append(Word(text, lemma if text.lower() == lemma else _LEMMAS.get(lemma, lemma), pos, tag, dep, head, start))
            start += len(text) + bool(space)
        try:
            TopologicalSorter({at: [word.head] for at, word in enumerate(words) if word.head != at}).prepare()
        except CycleError:
            raise ValueError(f"the parse of {caption!r} is not a tree: its heads form a cycle") from None
        return Sentence(tuple(words))

    @cached_property
    def children(self) -> Sequence[Sequence[int]]:
        """Indices of each word's dependents, in order."""
        below: list[list[int]] = [[] for _ in self.words]
        for index, word in enumerate(self.words):
            if word.head != index:
                below[word.head].append(index)
        return below

    def below(self, position: int, *deps: str) -> list[int]:
        """Return the dependents of the word at ``position`` with one of these labels."""
        return [child for child in self.children[position] if self.words[child].dep in deps]
