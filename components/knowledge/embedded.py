"""The embedded source: what packages and a name's own words tell, in microseconds and without a network.

Gated by the entity's type so that Toyota is no city, it asks in turn
  1. the gazetteers, for places;
  2. WordNet for the name itself, an instance of the right kind ("Einstein" → "physicist");
  3. the list of brands, for organisations ("Lufthansa" → "airline");
  4. rules about the name's form ("Mount Rainier" → "mountain", "Daily Herald" → "newspaper");
  5. the name's own head, where it says the kind: the noun before "of" ("University of Bristol" → "university"), or the
     last word ("Taj Mahal Hotel" → "hotel");
  6. the last word, where it is a thing, a place, a group or an event at all: the recogniser takes canals for buildings.
"""

from __future__ import annotations

from components.knowledge.brands import brand_kind
from components.knowledge.gazetteers import place_kind
from components.knowledge.kinds import KINDS, Known
from components.knowledge.names import core, kind_by_form
from components.language.wordnet import Synset, WordNet

ARTIFACT, GROUP, EVENT, LOCATION, FOOD, WATER, FORMATION = 21939, 31264, 29378, 27167, 7555863, 9225146, 9287968
THINGS = frozenset({ARTIFACT, GROUP, EVENT, LOCATION, FOOD, WATER, FORMATION})
"""WordNet synsets that a name's last word may be of, whatever it is taken for; no animals: a Mustang is none."""


class Embedded:
    """WordNet, gazetteers, brands and rules about names."""

    name = "embedded"

    def __init__(self, wordnet: WordNet) -> None:
        self.wordnet = wordnet

    def known(self, name: str, kind: str) -> Known | None:
        """See :class:`components.knowledge.kinds.Source`."""
        kinds, _ = KINDS[kind]
        for word, source in (
            (place_kind(name) if kind == "GPE" else "", "gazetteer"),
            (kind_by_form(name, kind) if kind == "LOC" else "", "name's form"),  # Niagara Falls is a city as well
            (self._instance(name, kinds), "wordnet"),
            (place_kind(name) if kind == "LOC" else "", "gazetteer"),
            (brand_kind(name) if kind == "ORG" else "", "brands"),
            (kind_by_form(name, kind), "name's form"),
            (self._head_before_of(name, kinds) if kind != "PERSON" else "", "name's head"),
            # A surname that is a word says nothing of its bearer (Baker, Hopper).
            (self._last_word(name, kinds) if kind != "PERSON" else "", "name's last word"),
            (self._last_word(name, THINGS, 1) if kind not in ("PERSON", "GPE") else "", "name's last word"),
        ):
            if word:
                return Known(word, source)
        return None

    def _instance(self, name: str, kinds: frozenset[int]) -> str:
        for sense in self.wordnet.senses(name):
            above = [self.wordnet.synset(number) for number in sense.instance_of]
            for item in above:
                if isinstance(item, Synset) and self.wordnet.is_a(item, kinds):
                    return _common_words(item.lemmas[0])
        return ""

    def _head_before_of(self, name: str, kinds: frozenset[int]) -> str:
        words = core(name)
        place = next((place for place, word in enumerate(words) if word == "of" and 0 < place < len(words) - 1), 0)
        return self._suiting(words[place - 1], kinds) if place else ""

    def _last_word(self, name: str, kinds: frozenset[int], senses: int = 3) -> str:
        words = core(name)
        return self._suiting(words[-1], kinds, senses) if len(words) > 1 else ""

    def _suiting(self, word: str, kinds: frozenset[int], most: int = 3) -> str:
        noun = word.lower()
        senses = [sense for sense in self.wordnet.senses(noun) if not sense.instance_of]
        # A plural ("Niagara Falls" apart, which is a lemma) names several things, and the caption needs one.
        itself = any(noun == lemma.lower() for sense in senses for lemma in sense.lemmas)
        return noun if itself and any(self.wordnet.is_a(sense, kinds) for sense in senses[:most]) else ""


def _common_words(lemma: str) -> str:
    """Return a class without the names in it: "European country" and "Queen of England" would name a place again."""
    head = lemma.split(" of ")[0] if any(word.istitle() for word in lemma.partition(" of ")[2].split()) else lemma
    return " ".join(word for word in head.split() if word.islower()) or head.split()[-1].lower()
