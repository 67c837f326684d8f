"""Properties of common words by WordNet: noun, role, place, hypernyms."""

from __future__ import annotations

from functools import lru_cache

from components.knowledge.gazetteers import is_given_name
from components.knowledge.kinds import LOCATION, PERSON, STRUCTURE
from components.language.wordnet import WordNet

SPECIFIC = 7
"""Minimum depth of a hypernym that can be learned from pictures ("bird", "garment")."""


class Dictionary:
    """The part of :class:`components.knowledge.cascade.Knowledge` about common words."""

    def __init__(self, wordnet: WordNet) -> None:
        self.wordnet = wordnet

    def kind_of(self, name: str, kind: str) -> str:
        """Return the entity's type; PERSON for two or three capitalised words that begin with a given name."""
        words = name.split()
        mistaken = kind in ("ORG", "GPE", "PRODUCT", "WORK_OF_ART", "FAC", "") and 2 <= len(words) <= 3
        named = mistaken and is_given_name(words[0]) and all(word[:1].isupper() and word.isalpha() for word in words)
        if named and not self.is_noun(words[-1]):
            return "PERSON"
        return kind

    @lru_cache(maxsize=8192)  # noqa: B019 - lives as long as the process
    def kinds(self, noun: str) -> tuple[str, ...]:
        """Return the hypernyms of the noun's first meaning of depth ``SPECIFIC`` or more, nearest first."""
        senses = [sense for sense in self.wordnet.senses(noun) if not sense.instance_of]
        above = self.wordnet.ancestors(senses[0]) if senses else []
        return tuple(item.lemmas[0].lower() for item in above if self.wordnet.depth(item.number) >= SPECIFIC)

    @lru_cache(maxsize=8192)  # noqa: B019
    def is_role(self, noun: str) -> bool:
        """Return whether the noun's first meaning is a kind of person."""
        return self._first_is(noun, frozenset({PERSON}))

    @lru_cache(maxsize=8192)  # noqa: B019
    def is_place(self, noun: str) -> bool:
        """Return whether the noun's first meaning is a building or a location."""
        return self._first_is(noun, frozenset({STRUCTURE, LOCATION}))

    def _first_is(self, noun: str, kinds: frozenset[int]) -> bool:
        senses = [sense for sense in self.wordnet.senses(noun) if not sense.instance_of]
        return bool(senses) and self.wordnet.is_a(senses[0], kinds)

    def is_noun(self, word: str) -> bool:
        """Return whether the word can be a noun."""
        return self.wordnet.knows_noun(word)

    def is_verb(self, word: str) -> bool:
        """Return whether the word can be a verb in its base form."""
        return self.wordnet.knows_verb(word)

    @lru_cache(maxsize=8192)  # noqa: B019
    def is_instance(self, word: str) -> bool:
        """Return whether a capitalised word is known only as a name, never as a common noun."""
        senses = self.wordnet.senses(word)
        return bool(senses) and all(sense.instance_of for sense in senses)
