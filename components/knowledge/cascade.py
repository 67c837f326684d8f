"""Hypernyms of named entities from a cascade of sources.

CC §3 matches named entities with the Google Knowledge Graph and takes the entry's hypernym ("Harrison Ford" → "actor"). Here
the sources of ``params.yaml:hypernymize.knowledge`` are tried in order, each restricted to the entity's type, and the first
answer is taken; without one the hypernym is the type's own word ("person"). The embedded source uses packages only
(``embedded``); the others are a local index of Wikidata, its SPARQL endpoint, and Google's Knowledge Graph Search
(docs/providers.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from components.knowledge.dictionary import Dictionary
from components.knowledge.embedded import Embedded
from components.knowledge.kinds import KINDS, HypernymAnswer, Source
from components.language.wordnet import WordNet

__all__ = ["KINDS", "Cascade", "EmbeddedKnowledge", "HypernymAnswer", "Knowledge", "Source"]


class Knowledge(Protocol):
    """Hypernyms of named entities, and properties of common words."""

    def lookup(self, name: str, kind: str) -> HypernymAnswer | None:
        """Return the hypernym of the named entity of an OntoNotes type, with its source; None if the type has none."""
        ...

    def hypernym(self, name: str, kind: str) -> str:
        """Return the word of :meth:`lookup`; "" for None."""
        ...

    def kind_of(self, name: str, kind: str) -> str:
        """Return the entity's type, corrected where the name contradicts the tagger."""
        ...

    def kinds(self, noun: str) -> tuple[str, ...]:
        """Return the specific hypernyms of a common noun's first meaning, nearest first."""
        ...

    def is_role(self, noun: str) -> bool:
        """Return whether the noun's first meaning is a kind of person (artist, worker)."""
        ...

    def is_place(self, noun: str) -> bool:
        """Return whether the noun's first meaning is a building or a location (hotel, city)."""
        ...

    def is_noun(self, word: str) -> bool:
        """Return whether the word can be a noun."""
        ...

    def is_verb(self, word: str) -> bool:
        """Return whether the word can be a verb in its base form."""
        ...

    def is_instance(self, word: str) -> bool:
        """Return whether a capitalised word is lookup only as a name, never as a common noun."""
        ...


class Cascade(Dictionary):
    """Sources in order, then the type's own word; WordNet for common words."""

    def __init__(self, wordnet: WordNet, sources: Sequence[Source]) -> None:
        super().__init__(wordnet)
        self.sources = list(sources)
        self._answers: dict[tuple[str, str], HypernymAnswer] = {}

    def lookup(self, name: str, kind: str) -> HypernymAnswer | None:
        """See :class:`Knowledge`."""
        if kind not in KINDS:
            return None
        entity = strip_article(name), kind
        if entity not in self._answers:
            if len(self._answers) >= ANSWERS:
                self._answers.clear()
            self._answers[entity] = self._first_answer(*entity)
        return self._answers[entity]

    def hypernym(self, name: str, kind: str) -> str:
        """See :class:`Knowledge`."""
        answer = self.lookup(name, kind)
        return answer.word if answer is not None else ""

    def _first_answer(self, name: str, kind: str) -> HypernymAnswer:
        for source in self.sources:
            answer = source.lookup(name, kind) if name else None
            if answer is not None:
                return answer
        return HypernymAnswer(KINDS[kind][1], "type")


ANSWERS = 65536
"""Answers in memory before all are dropped: enough for one look-up per name and shard."""


def strip_article(name: str) -> str:
    """Return the name without its article and without the tagger's space before a genitive mark."""
    words = name.replace(" 's", "'s").replace(" ’s", "’s").split()
    return " ".join(words[1:] if words[:1] in (["the"], ["The"]) else words)


class EmbeddedKnowledge(Cascade):
    """The cascade of the embedded source only."""

    def __init__(self, wordnet: WordNet) -> None:
        super().__init__(wordnet, [Embedded(wordnet)])
