"""Entity types, the kinds of their hypernyms, and the interface of a source of knowledge.

Types are OntoNotes' (the tagger's). A hypernym must fit the type: an organisation called Toyota is not a city. :class:`Gate`
checks this for a common noun by WordNet.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, Protocol

from components.language.wordnet import Synset, WordNet

PERSON, LOCATION, STRUCTURE, GROUP, EVENT, CREATION, ARTIFACT = 7846, 27167, 4341686, 31264, 29378, 3129123, 21939
FACILITY, ANIMAL = 3315023, 15388
"""WordNet 3.0 synsets: person, location, structure, group, event, creation, artifact; facility (airports, museums); animal."""
FORMATION, WATER, LAND, CELESTIAL = 9287968, 9225146, 9334396, 9239740
"""Geological formation, body of water, land (islands), celestial body."""
COMMUNICATION, FOOD, SOLID_FOOD, CHARACTER, GAME = 33020, 21265, 7555863, 9587565, 458890
"""Communication (films, songs, texts), food (a nutrient), solid food (a dish), fictional character, computer game."""
SPIRIT, OPERATOR, MASCOT = 9504135, 10378412, 10297234
"""Spiritual being (deities), operator (drivers, which are no persons in WordNet 3.0), mascot."""
SHOW, ATTRACTION, VERSION, HOLIDAY = 6619065, 5853820, 5845652, 15183428
"""Show (television programs), tourist attraction, model (a type of product), holiday (a day)."""
BEINGS = frozenset({CHARACTER, SPIRIT})
"""Persons that are no humans."""

KINDS: dict[str, tuple[frozenset[int], str]] = {
    "PERSON": (frozenset({PERSON}), "person"),
    "GPE": (frozenset({LOCATION}), "location"),
    "LOC": (frozenset({LOCATION, FORMATION, WATER, CELESTIAL}), "location"),
    "FAC": (frozenset({STRUCTURE, FACILITY, LOCATION}), "building"),
    "ORG": (frozenset({GROUP, STRUCTURE, FACILITY, EVENT}), "organization"),
    "EVENT": (frozenset({EVENT, GROUP}), "event"),
    "WORK_OF_ART": (frozenset({CREATION}), "work"),
    "PRODUCT": (frozenset({ARTIFACT}), "product"),
    "LAW": (frozenset({6532330, 6470073}), "law"),
}
"""Entity type (OntoNotes) → the WordNet kinds of its hypernyms, and the fallback word."""

_WIDER: dict[str, frozenset[int]] = {
    "PERSON": BEINGS | {OPERATOR, MASCOT},
    "GPE": frozenset({8168978, 8654360}),  # the country as a body politic, the state as a district
    "LOC": frozenset({LAND, STRUCTURE, ATTRACTION}),
    "EVENT": frozenset({HOLIDAY}),
    "WORK_OF_ART": frozenset({COMMUNICATION, GAME, 7018931, SHOW}),  # films, songs and games; shows on stage and on air
    "PRODUCT": frozenset({COMMUNICATION, FOOD, GAME, CREATION, VERSION}),
    "LAW": frozenset({COMMUNICATION}),
    "FAC": frozenset({GROUP, ARTIFACT, ATTRACTION}),
}
"""Further kinds accepted per type, where WordNet's class of a word differs from usage."""
_NEVER: dict[str, frozenset[int]] = {
    "ORG": frozenset({PERSON, LOCATION, COMMUNICATION, CREATION, GAME}),
    "GPE": frozenset({PERSON, STRUCTURE}),
    "LOC": frozenset({PERSON}),
    "FAC": frozenset({PERSON, EVENT, COMMUNICATION, FOOD, GAME}),
    "EVENT": frozenset({PERSON, LOCATION, STRUCTURE, COMMUNICATION, CREATION, GAME}),
    "WORK_OF_ART": frozenset({PERSON, LOCATION, STRUCTURE}),
    "PRODUCT": frozenset({PERSON, LOCATION, STRUCTURE}),
    "LAW": frozenset({PERSON, LOCATION, STRUCTURE}),
}
"""Kinds refused for the first meaning of a hypernym."""
FIRMS = frozenset({6267145, 6595351, 4602044, 8494231})
"""Newspaper, magazine, workplace (bakeries, studios), amusement park: WordNet's first meaning is the paper or the place, not the
organisation."""
SENSES = 3
ROLE_SENSES = 4
"""Meanings of a word that are considered; an occupation may be a rarer one ("model")."""


class HypernymAnswer(NamedTuple):
    """The hypernym of a named entity and its source."""

    word: str
    """A common noun, singular, in lower case."""
    source: str
    """The source: ``gazetteer``, ``wordnet``, ``name's last word``, ``wikidata Q81328``, ``google kg /m/0c0k1``, ``type``."""


class Source(Protocol):
    """One source of a cascade."""

    name: str
    """As in ``hypernymize.knowledge``."""

    def lookup(self, name: str, kind: str) -> HypernymAnswer | None:
        """Return the hypernym of the entity ``name`` of the OntoNotes type ``kind``, or None."""
        ...


class Gate:
    """Checks whether common nouns fit an entity type."""

    def __init__(self, wordnet: WordNet) -> None:
        self.wordnet = wordnet

    @lru_cache(maxsize=16384)  # noqa: B019 - lives as long as the process
    def suits(self, noun: str, kind: str) -> bool:
        """Return whether the noun, or its head, can be the hypernym of an entity of that type; False for unknown words."""
        if kind not in KINDS:
            return False
        senses = self.meanings(noun)
        if not senses:
            return False
        if kind == "PERSON":
            return any(self.wordnet.is_a(sense, KINDS[kind][0] | _WIDER[kind]) for sense in senses[:ROLE_SENSES])
        kinds = KINDS[kind][0] | _WIDER.get(kind, frozenset())
        never = _NEVER[kind] if not (kind == "ORG" and self.wordnet.is_a(senses[0], FIRMS)) else frozenset()
        if never and self.wordnet.is_a(senses[0], never):
            return False
        return any(self.wordnet.is_a(sense, kinds) for sense in senses[:SENSES])

    def is_character(self, noun: str) -> bool:
        """Return whether the noun's first meaning is a fictional character or a deity."""
        return any(self.wordnet.is_a(sense, BEINGS) for sense in self.meanings(noun)[:1])

    def meanings(self, noun: str) -> list[Synset]:
        """Return the common meanings of a noun phrase, or of its last word."""
        for part in (noun, noun.split()[-1] if noun.split() else "", noun.replace("-", " ").split()[-1:] or [""]):
            word = part if isinstance(part, str) else part[0]
            senses = [sense for sense in self.wordnet.senses(word) if not sense.instance_of] if word else []
            if senses:
                return senses
        return []
