"""Hypernyms of named entities from a cascade of sources.

CC §3 matches named entities with the Google Knowledge Graph and takes the entry's hypernym ("Harrison Ford" → "actor"). Here
the sources of ``hypernymize.knowledge`` are tried in order, each restricted to the entity's type, and the first
answer is taken; without one the hypernym is the type's own word ("person"). The embedded source uses packages only
(``embedded``); the others are a local index of Wikidata and Google's Knowledge Graph Search (docs/providers.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from components.knowledge.embedded import Embedded
from components.knowledge.kinds import ANIMAL, ARTIFACT, FORMATION, KINDS, LOCATION, PERSON, STRUCTURE, HypernymAnswer, Source
from components.language.person_names import is_given_name
from components.language.wordnet import WordNet

ANSWERS = 65536
"""Answers in memory before all are dropped: enough for one look-up per name and shard."""
SPECIFIC = 7
"""Minimum depth of a hypernym that can be learned from images ("bird", "garment")."""


class Knowledge:
    """Hypernyms of named entities, by sources in order; properties of common words, by WordNet.

    Args:
        wordnet: the dictionary.
        sources: tried in order; None: the embedded source alone.
    """

    def __init__(self, wordnet: WordNet, sources: Sequence[Source] | None = None) -> None:
        self.wordnet = wordnet
        self.sources = [Embedded(wordnet)] if sources is None else list(sources)
        self._answers: dict[tuple[str, str], HypernymAnswer] = {}

    def lookup(self, name: str, kind: str) -> HypernymAnswer | None:
        """Return the hypernym of the named entity of an OntoNotes type, with its source; None if the type has none."""
        if kind not in KINDS:
            return None
        entity = strip_article(name), kind
        if entity not in self._answers:
            if len(self._answers) >= ANSWERS:
                self._answers.clear()
            self._answers[entity] = self._first_answer(*entity)
        return self._answers[entity]

    def hypernym(self, name: str, kind: str) -> str:
        """Return the word of :meth:`lookup`; "" for None."""
        answer = self.lookup(name, kind)
        return answer.word if answer is not None else ""

    def _first_answer(self, name: str, kind: str) -> HypernymAnswer:
        for source in self.sources:
            answer = source.lookup(name, kind) if name else None
            if answer is not None:
                return answer
        return HypernymAnswer(KINDS[kind][1], "type")

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
        """Return the hypernyms of the noun's first meaning of depth ``SPECIFIC`` or more, nearest first.

        Those of a compound that WordNet lacks begin with its head: "pop artist" is an artist.
        """
        senses = [sense for sense in self.wordnet.senses(noun) if not sense.instance_of]
        if not senses and " " in noun:
            head = noun.split(maxsplit=1)[1]
            return (head, *self.kinds(head))
        above = self.wordnet.ancestors(senses[0]) if senses else []
        return tuple(item.lemmas[0].lower() for item in above if self.wordnet.depth(item.number) >= SPECIFIC)

    @lru_cache(maxsize=8192)  # noqa: B019
    def is_role(self, noun: str) -> bool:
        """Return whether the noun's first meaning is a kind of person."""
        return self._first_is(noun, frozenset({PERSON}))

    @lru_cache(maxsize=8192)  # noqa: B019
    def is_animal(self, noun: str) -> bool:
        """Return whether one of the noun's first two meanings is an animal; a fierce person is called a tiger, too."""
        return self._first_is(noun, frozenset({ANIMAL}), most=2)

    @lru_cache(maxsize=8192)  # noqa: B019
    def is_object(self, noun: str) -> bool:
        """Return whether the noun's first meaning is a thing that people make."""
        return self._first_is(noun, frozenset({ARTIFACT}))

    @lru_cache(maxsize=8192)  # noqa: B019
    def is_place(self, noun: str) -> bool:
        """Return whether the noun's first meaning is a building, a location or a form of the land."""
        return self._first_is(noun, frozenset({STRUCTURE, LOCATION, FORMATION}))

    def _first_is(self, noun: str, kinds: frozenset[int], most: int = 1) -> bool:
        senses = [sense for sense in self.wordnet.senses(noun) if not sense.instance_of]
        return any(self.wordnet.is_a(sense, kinds) for sense in senses[:most])

    def is_noun(self, word: str) -> bool:
        """Return whether the word can be a noun."""
        return self.wordnet.knows_noun(word)

    def is_common_noun(self, word: str) -> bool:
        """Return whether the word can be a noun and is not known only as a name."""
        return self.is_noun(word) and not self.is_instance(word)

    def is_verb(self, word: str) -> bool:
        """Return whether the word can be a verb in its base form."""
        return self.wordnet.knows_verb(word)

    @lru_cache(maxsize=8192)  # noqa: B019
    def is_instance(self, word: str) -> bool:
        """Return whether a capitalised word is known only as a name, never as a common noun."""
        senses = self.wordnet.senses(word)
        return bool(senses) and all(sense.instance_of for sense in senses)


def strip_article(name: str) -> str:
    """Return the name without its article and without the tagger's space before a genitive mark."""
    words = name.replace(" 's", "'s").replace(" ’s", "’s").split()
    return " ".join(words[1:] if words[:1] in (["the"], ["The"]) else words)
