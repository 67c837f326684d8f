"""The embedded source: hypernyms from packages and from the words of a name, offline.

Every answer is a common word that fits the entity's type, by the same gate as those of the network sources (Toyota is not a
city). It uses in turn
  1. the gazetteers, for places;
  2. WordNet instances of the right kind ("Einstein" → "physicist"), by the nearest class that is a common word;
  3. the list of brands, for organisations ("Lidl" → "supermarket"), unless the brand is a common English word ("Gap");
  4. rules about the name's form ("Mount Rainier" → "mountain", "Daily Herald" → "newspaper");
  5. the name's head: the noun before "of" ("University of Bristol" → "university"), or the last word ("Taj Mahal Hotel" →
     "hotel");
  6. a last word that is any thing, place, group or event, since the recogniser confuses types (canals and buildings). It then
     fits another of the types in :data:`CONFUSED`. Titles of works are left out: "Mystic River" is no river.
"""

from __future__ import annotations

from components.knowledge.gazetteers import brand_kind, place_kind
from components.knowledge.kinds import ARTIFACT, EVENT, FORMATION, GROUP, KINDS, LOCATION, PERSON, WATER, Gate, HypernymAnswer
from components.knowledge.names import core_words, kind_by_form
from components.knowledge.words import CAPTION_TERMS, VAGUE, Words
from components.language.person_names import is_given_name
from components.language.wordnet import Synset, WordNet
from components.language.words import zipf

SOLID_FOOD = 7555863
THINGS = frozenset({ARTIFACT, GROUP, EVENT, LOCATION, SOLID_FOOD, WATER, FORMATION})
"""WordNet synsets accepted for a last word regardless of type; without animals (Mustang)."""

CONFUSED = ("ORG", "FAC", "LOC", "EVENT", "PRODUCT", "LAW")
"""Types that the recogniser confuses in names that end with a common noun."""
LAST = "name's last word"
ALONE = "name's last word alone"
"""The source of a last word that is a thing, but not of the type that the recogniser gives."""
FREQUENT = 5.0
"""Minimum frequency (Zipf) of a word that is no evidence for a brand: one in ten thousand ("next")."""


class Embedded:
    """The embedded source."""

    name = "embedded"

    def __init__(self, wordnet: WordNet) -> None:
        self.wordnet, self.gate, self.words = wordnet, Gate(wordnet), Words(wordnet)

    def lookup(self, name: str, kind: str) -> HypernymAnswer | None:
        kinds, _ = KINDS[kind]
        for word, source in (
            (place_kind(name) if kind == "GPE" else "", "gazetteer"),
            (kind_by_form(name, kind) if kind == "LOC" else "", "name's form"),  # Niagara Falls is a city as well
            (self._instance(name, kinds), "wordnet"),
            (place_kind(name) if kind == "LOC" else "", "gazetteer"),
            (self._brand(name) if kind == "ORG" else "", "brands"),
            (kind_by_form(name, kind), "name's form"),
            (self._head_before_of(name, kinds) if kind != "PERSON" else "", "name's head"),
            # A surname that is a common noun does not describe its bearer (Baker, Hopper).
            (self._last_word(name, kinds) if kind != "PERSON" else "", LAST),
        ):
            if word and self.gate.suits(word, kind):
                return HypernymAnswer(word, source)
        for word, source in (
            (kind_by_form(name, kind) if kind == "GPE" else "", "name's form"),  # Lake Winnipeg, labelled as a city
            (self._last_word(name, THINGS, 1) if kind in CONFUSED else "", ALONE),
        ):
            if word and not is_given_name(word) and any(self.gate.suits(word, other) for other in CONFUSED):
                return HypernymAnswer(word, source)
        return None

    def _brand(self, name: str) -> str:
        return "" if self._is_common_word(name) else brand_kind(name)

    def _is_common_word(self, name: str) -> bool:
        """Return whether a name is one word of the dictionary or a very frequent one, so that its spelling is no evidence."""
        word = name.lower()
        lemmas = {lemma for sense in self.wordnet.senses(word) if not sense.instance_of for lemma in sense.lemmas}
        common = word in lemmas or self.wordnet.knows_verb(word) or zipf(word) >= FREQUENT
        return word.isalpha() and common

    def _instance(self, name: str, kinds: frozenset[int]) -> str:
        senses = self.wordnet.senses(name)
        if PERSON in kinds and name.isalpha() and (is_given_name(name) or sum(bool(each.instance_of) for each in senses) > 1):
            return ""  # several people have this name
        for sense in senses:
            if name.isupper() and name not in sense.lemmas:
                continue  # a word in capitals is only a name that is written in capitals
            above = [self.wordnet.synset(number) for number in sense.instance_of]
            for item in above:
                if isinstance(item, Synset) and self.wordnet.is_a(item, kinds):
                    return self._class_word(item)
        return ""

    def _class_word(self, item: Synset) -> str:
        """Return the nearest class's word that is common and no name, or ""."""
        for each in (item, *self.wordnet.ancestors(item)):
            lemma = each.lemmas[0]
            word = _common_words(lemma)
            word = CAPTION_TERMS.get(word, word)
            if word in VAGUE or word.endswith((" area", " region")):
                break
            if self.words.common(word) and (lemma.islower() or " " in lemma):
                return word
        return ""

    def _head_before_of(self, name: str, kinds: frozenset[int]) -> str:
        words = core_words(name)
        position = next((index for index, word in enumerate(words) if word == "of" and 0 < index < len(words) - 1), 0)
        return self._suiting(words[position - 1], kinds) if position else ""

    def _last_word(self, name: str, kinds: frozenset[int], senses: int = 3) -> str:
        words = core_words(name)
        return self._suiting(words[-1], kinds, senses) if len(words) > 1 else ""

    def _suiting(self, word: str, kinds: frozenset[int], most: int = 3) -> str:
        noun = word.lower()
        senses = [sense for sense in self.wordnet.senses(noun) if not sense.instance_of]
        # A plural that is not a lemma names several things, and the caption needs a singular.
        is_lemma = any(noun == lemma for sense in senses for lemma in sense.lemmas)
        return noun if is_lemma and any(self.wordnet.is_a(sense, kinds) for sense in senses[:most]) else ""


def _common_words(lemma: str) -> str:
    """Return a class without the names in it, such as "European country" and "Queen of England"."""
    head = lemma.split(" of ")[0] if any(word.istitle() for word in lemma.partition(" of ")[2].split()) else lemma
    return " ".join(word for word in head.split() if word.islower()) or head.split()[-1].lower()
