"""Knowledge, the role: what kind of thing a named entity is, and the cascade of sources that answers.

The paper matches named entities with the Google Knowledge Graph and takes the entry's hypernym ("Harrison Ford" →
"actor"; CC, section 3). Here sources are asked in the order of ``params.yaml:hypernymize.knowledge``, each held
to the entity's type, and the first that knows answers; where none does, the type itself is the word ("person").
The embedded source needs nothing but packages (``knowledge_embedded``); the others are a local index of Wikidata, its
SPARQL endpoint, and Google's Knowledge Graph Search (docs/providers.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from components.knowledge.dictionary import Dictionary
from components.knowledge.embedded import Embedded
from components.knowledge.kinds import KINDS, Known, Source
from components.language.wordnet import WordNet

__all__ = ["KINDS", "Cascade", "EmbeddedKnowledge", "Knowledge", "Known", "Source"]


class Knowledge(Protocol):
    """Anything that knows the hypernym of a named entity, and common words."""

    def known(self, name: str, kind: str) -> Known | None:
        """Return the hypernym of the named entity of an OntoNotes type, with its source; None if the type has none."""
        ...

    def hypernym(self, name: str, kind: str) -> str:
        """Return the word of :meth:`known`; "" for None."""
        ...

    def kind_of(self, name: str, kind: str) -> str:
        """Return the entity's type, corrected where the name itself shows that the tagger is wrong."""
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
        """Return whether a capitalised word is known only as a name, never as a common noun."""
        ...


class Cascade(Dictionary):
    """Sources in order, then the type's own word; WordNet answers about common words."""

    def __init__(self, wordnet: WordNet, sources: Sequence[Source]) -> None:
        super().__init__(wordnet)
        self.sources = list(sources)
        self._answers: dict[tuple[str, str], Known] = {}

    def known(self, name: str, kind: str) -> Known | None:
        """See :class:`Knowledge`."""
        if kind not in KINDS:
            return None
        question = bare(name), kind
        if question not in self._answers:
            if len(self._answers) >= ANSWERS:
                self._answers.clear()
            self._answers[question] = self._ask(*question)
        return self._answers[question]

    def hypernym(self, name: str, kind: str) -> str:
        """See :class:`Knowledge`."""
        found = self.known(name, kind)
        return found.word if found is not None else ""

    def _ask(self, name: str, kind: str) -> Known:
        for source in self.sources:
            found = source.known(name, kind) if name else None
            if found is not None:
                return found
        return Known(KINDS[kind][1], "type")


ANSWERS = 65536
"""Answers a cascade keeps in memory before it forgets them all: enough that a shard asks once for each name."""


def bare(name: str) -> str:
    """Return the name without its article, and as it is written: the tagger's words have a space before a genitive's mark."""
    words = name.replace(" 's", "'s").replace(" ’s", "’s").split()
    return " ".join(words[1:] if words[:1] in (["the"], ["The"]) else words)


class EmbeddedKnowledge(Cascade):
    """What packages know, offline: WordNet, gazetteers and rules."""

    def __init__(self, wordnet: WordNet) -> None:
        super().__init__(wordnet, [Embedded(wordnet)])
