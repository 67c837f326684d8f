"""Knowledge, the role: what kind of thing a named entity is, and the embedded default.

The paper matches named entities with the Google Knowledge Graph and takes the entry's hypernym ("Harrison Ford" →
"actor"; seed 000, section 3). No package knows that much; the embedded cascade, gated by the entity's type so that
Toyota is no city, asks in turn
  1. the gazetteers, for places;
  2. WordNet for the name itself, an instance of the right kind ("Einstein" → "physicist");
  3. the name's own last word, where it says the kind ("Taj Mahal Hotel" → "hotel");
  4. the type's back-off word ("person", "organization", ...).
A knowledge graph over the network serves through the same :class:`Knowledge` interface.
The lookups take microseconds, so unlike the other roles this one is not cached as annotations.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

from components.providers.knowledge_gazetteers import is_given_name, place_kind
from components.providers.knowledge_wordnet import Synset, WordNet

PERSON, LOCATION, STRUCTURE, GROUP, EVENT, CREATION, ARTIFACT = 7846, 27167, 4341686, 31264, 29378, 3129123, 21939
"""WordNet 3.0 synsets: person, location, structure, group, event, creation, artifact."""

KINDS: dict[str, tuple[frozenset[int], str]] = {
    "PERSON": (frozenset({PERSON}), "person"),
    "GPE": (frozenset({LOCATION}), "location"),
    "LOC": (frozenset({LOCATION, 9287968, 9225146}), "location"),  # geological formation, body of water
    "FAC": (frozenset({STRUCTURE, LOCATION}), "building"),
    "ORG": (frozenset({GROUP, STRUCTURE, EVENT}), "organization"),
    "EVENT": (frozenset({EVENT, GROUP}), "event"),
    "WORK_OF_ART": (frozenset({CREATION}), "work"),
    "PRODUCT": (frozenset({ARTIFACT}), "product"),
    "LAW": (frozenset({6532330, 6470073}), "law"),
}
"""Entity type (OntoNotes) → the WordNet kinds its hypernym must be of, and the word to fall back on."""

SPECIFIC = 7
"""A kind at least so many steps below WordNet's root can still be learnt from pictures ("bird", "garment")."""


class Knowledge(Protocol):
    """Anything that knows the hypernym of a named entity."""

    def hypernym(self, name: str, kind: str) -> str:
        """The common noun, in the singular and lower case, for the named entity of an OntoNotes type; "" if the
        type has none."""
        ...

    def kind_of(self, name: str, kind: str) -> str:
        """The entity's type, corrected where the name itself shows that the tagger is wrong."""
        ...

    def kinds(self, noun: str) -> tuple[str, ...]:
        """The specific hypernyms of a common noun's first meaning, nearest first."""
        ...

    def is_role(self, noun: str) -> bool:
        """Whether the noun's first meaning is a kind of person (artist, worker)."""
        ...

    def is_place(self, noun: str) -> bool:
        """Whether the noun's first meaning is a building or a location (hotel, city)."""
        ...

    def is_noun(self, word: str) -> bool:
        """Whether the word can be a noun."""
        ...

    def is_verb(self, word: str) -> bool:
        """Whether the word can be a verb in its base form."""
        ...

    def is_instance(self, word: str) -> bool:
        """Whether a capitalised word is known only as a name, never as a common noun."""
        ...


class EmbeddedKnowledge:
    """WordNet and gazetteers, offline."""

    def __init__(self, wordnet: WordNet) -> None:
        self.wordnet = wordnet

    @lru_cache(maxsize=8192)  # noqa: B019 - lives as long as the process
    def hypernym(self, name: str, kind: str) -> str:
        """See :class:`Knowledge`."""
        if kind not in KINDS:
            return ""
        kinds, fallback = KINDS[kind]
        bare = name.strip().removeprefix("the ").removeprefix("The ").strip()
        return self._place(bare, kind) or self._instance(bare, kinds) or self._last_word(bare, kinds) or fallback

    def kind_of(self, name: str, kind: str) -> str:
        """See :class:`Knowledge`: two or three capitalised words that begin with a given name are a person."""
        words = name.split()
        mistaken = kind in ("ORG", "GPE", "PRODUCT", "WORK_OF_ART", "FAC", "") and 2 <= len(words) <= 3
        named = mistaken and is_given_name(words[0]) and all(word[:1].isupper() and word.isalpha() for word in words)
        if named and not self.is_noun(words[-1]):
            return "PERSON"
        return kind

    @lru_cache(maxsize=8192)  # noqa: B019
    def kinds(self, noun: str) -> tuple[str, ...]:
        """See :class:`Knowledge`: those at least ``SPECIFIC`` steps below WordNet's root."""
        senses = [sense for sense in self.wordnet.senses(noun) if not sense.instance_of]
        above = self.wordnet.ancestors(senses[0]) if senses else []
        return tuple(item.lemmas[0].lower() for item in above if self.wordnet.depth(item.number) >= SPECIFIC)

    @lru_cache(maxsize=8192)  # noqa: B019
    def is_role(self, noun: str) -> bool:
        """See :class:`Knowledge`."""
        return self._first_is(noun, frozenset({PERSON}))

    @lru_cache(maxsize=8192)  # noqa: B019
    def is_place(self, noun: str) -> bool:
        """See :class:`Knowledge`."""
        return self._first_is(noun, frozenset({STRUCTURE, LOCATION}))

    def _first_is(self, noun: str, kinds: frozenset[int]) -> bool:
        senses = [sense for sense in self.wordnet.senses(noun) if not sense.instance_of]
        return bool(senses) and self.wordnet.is_a(senses[0], kinds)

    def is_noun(self, word: str) -> bool:
        """See :class:`Knowledge`."""
        return self.wordnet.knows_noun(word)

    def is_verb(self, word: str) -> bool:
        """See :class:`Knowledge`."""
        return self.wordnet.knows_verb(word)

    @lru_cache(maxsize=8192)  # noqa: B019
    def is_instance(self, word: str) -> bool:
        """See :class:`Knowledge`."""
        senses = self.wordnet.senses(word)
        return bool(senses) and all(sense.instance_of for sense in senses)

    def _instance(self, name: str, kinds: frozenset[int]) -> str:
        for sense in self.wordnet.senses(name):
            above = [self.wordnet.synset(number) for number in sense.instance_of]
            for item in above:
                if isinstance(item, Synset) and self.wordnet.is_a(item, kinds):
                    # "European country" would name a place again: keep the common words.
                    return " ".join(word for word in item.lemmas[0].split() if word.islower()) or item.lemmas[-1].lower()
        return ""

    def _place(self, name: str, kind: str) -> str:
        return place_kind(name) if kind in ("GPE", "LOC") else ""

    def _last_word(self, name: str, kinds: frozenset[int]) -> str:
        words = name.split()
        if len(words) < 2:
            return ""
        last = words[-1].lower()
        senses = [sense for sense in self.wordnet.senses(last) if not sense.instance_of]
        return last if any(self.wordnet.is_a(sense, kinds) for sense in senses[:3]) else ""
