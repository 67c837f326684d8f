"""The counterpart of a caption's object in the references and labels of its image.

Tried in this order: the same **lemma** anywhere in the references (in any part of speech: "skateboard" and "skateboarding") or as
the last word of a label; a **synonym** (a common WordNet synset); a **broader** word (a hypernym: "animal" for a known dog); a
**narrower** word if the known word is specific enough ("gull" for a known bird, not for a known animal); a word **alike** by the
list of :data:`ALIKE`; and for a person another **person**, unless known persons are all of the other sex or already matched
by another person of the caption. Persons only match persons, other objects only other objects.

Which words of a parsed caption are objects: "on top of a table" names a table, "a group of men" men, "a cat and a dog" both,
"without leaves" nothing, "a picture of a car" a car. The lists of such words, with what they are for, are in
``data/caption_words.yaml``. English.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from components.core.params import read_yaml
from components.metrics.lexicon import EVENT, FEMALE, MALE, MATTER, OBJECT, PERSON, PLACE, Lexicon
from components.metrics.parses import UNKNOWN, Sentence

_LISTS = read_yaml(Path(__file__).parent / "data" / "caption_words.yaml")
_WORDS = {name: frozenset(words.split()) for name, words in _LISTS.items() if name != "alike"}
POSITIONS, IMAGES, GROUPS, PEOPLE_GROUPS = (_WORDS[name] for name in ("positions", "images", "groups", "people_groups"))
UNSEEN, VISIBLE, PEOPLE = _WORDS["unseen"], _WORDS["visible"], PEOPLE_GROUPS | _WORDS["persons"]
ALIKE = tuple(frozenset(line.split()) for line in _LISTS["alike"])


def alike(first: str, second: str) -> bool:
    """Return whether captions use the two lemmas for the same thing."""
    return any(first in names and second in names for names in ALIKE)


NOUNS = ("NOUN", "PROPN")


def object_positions(sentence: Sentence) -> list[int]:
    """Return the indices of the words that are objects, in order."""
    phrases = NounPhrases(sentence)
    return [position for position in range(len(sentence.words)) if phrases.is_object(position)]


@dataclass
class NounPhrases:
    """The noun phrases of one sentence; words are given by their indices."""

    sentence: Sentence

    def is_noun(self, position: int) -> bool:
        """Return whether the word is a noun, and not unknown."""
        word = self.sentence.words[position]
        return word.pos in NOUNS and word.lemma != UNKNOWN and any(char.isalpha() for char in word.lemma)

    def is_object(self, position: int) -> bool:
        """Return whether the word is a noun that refers to an existing object."""
        word = self.sentence.words[position]
        if not self.is_noun(position) or word.dep in ("compound", "amod", "nmod", "npadvmod", "nummod"):
            return False
        return not (self.is_denied(position) or self.is_container_noun(position) or self.is_position(position))

    def is_denied(self, position: int) -> bool:
        """Return whether "no" or "without" negates it."""
        words, head = self.sentence.words, self.sentence.words[position].head
        if words[position].dep == "conj" and self.is_denied(head):
            return True
        denied = any(words[child].lemma == "no" for child in self.sentence.below(position, "det"))
        return denied or (words[position].dep == "pobj" and words[head].lemma == "without")

    def is_container_noun(self, position: int) -> bool:
        """Return whether it is a container noun, whose "of" phrase names the object: "group of", "picture of"."""
        lemma = self.sentence.words[position].lemma
        return lemma in IMAGES | GROUPS and bool(self.after_of(position))

    def is_position(self, position: int) -> bool:
        """Return whether it is part of a preposition: "on top of", "to the left of", "in the background"."""
        word = self.sentence.words[position]
        return word.lemma in POSITIONS and (word.dep in ("pobj", "dep", "advmod") or bool(self.after_of(position)))

    def after_of(self, position: int) -> list[int]:
        """Return the nouns after its "of"."""
        words = self.sentence.words
        preps = self.sentence.below(position, "prep")
        if words[position].lemma == "close":  # "a close up of"
            preps = preps + [other for prep in preps if words[prep].lemma == "up" for other in self.sentence.below(prep, "prep")]
        return [noun for prep in preps if words[prep].lemma == "of" for noun in self.sentence.below(prep, "pobj")]


FIRST = 2
"""Number of a noun's most frequent meanings that are compared; rarer ones would match almost anything."""

PHYSICAL_MEANINGS = 4
"""Number of most frequent meanings of which one must be physical: "kite" is a cheque in its first two."""


@dataclass(frozen=True)
class Mention:
    """An object as named by a text."""

    lemma: str
    """The noun's lemma; of a compound its last word's."""
    phrase: str
    """With the preceding noun if the dictionary has both as one ("teddy bear"); otherwise the lemma."""
    start: int
    end: int
    """Index of its first character, and after its last."""
    person: bool
    loose: bool = False
    """Whether the phrase starts with an adjective: "black cat" is a fisher in the dictionary, but usually a cat in captions."""


def find_mentions(sentence: Sentence, lexicon: Lexicon | None) -> list[Mention]:
    """Return a caption's objects in order: nouns without invisible ones (times, events, abstract nouns).

    Without a dictionary only the list :data:`UNSEEN` identifies invisible ones.
    """
    found_mentions = []
    for index in object_positions(sentence):
        word = sentence.words[index]
        phrase, first = find_compound(sentence, index, lexicon)
        if word.lemma not in UNSEEN and is_physical(phrase, lexicon):
            loose = sentence.words[first].pos == "ADJ"
            found_mentions.append(
                Mention(word.lemma, phrase, sentence.words[first].start, word.end, is_person(phrase, lexicon), loose)
            )
    return found_mentions


def find_compound(sentence: Sentence, position: int, lexicon: Lexicon | None) -> tuple[str, int]:
    """Return the longest compound (at most three words) in the dictionary that ends at ``position``, and its first index."""
    words = sentence.words
    if lexicon is not None:
        for first in (position - 2, position - 1):
            before = words[first:position] if first >= 0 else ()
            if before and all(word.head <= position and word.pos in ("NOUN", "PROPN", "ADJ") for word in before):
                phrase = " ".join([*(word.text.lower() for word in before), words[position].lemma])
                if lexicon.nouns(phrase):
                    return phrase, first
    return words[position].lemma, position


def first_meanings(phrase: str, lexicon: Lexicon) -> Sequence[int]:
    """Return the most frequent meanings of a noun."""
    return lexicon.nouns(phrase)[:FIRST]


def is_person(phrase: str, lexicon: Lexicon | None) -> bool:
    """Return whether a noun means a person or people by its first meaning."""
    if phrase in PEOPLE:
        return True
    return lexicon is not None and any(PERSON in {number, *lexicon.above(number)} for number in lexicon.nouns(phrase)[:1])


def is_physical(phrase: str, lexicon: Lexicon | None) -> bool:
    """Return whether one of a noun's first meanings is physical; unknown nouns count as physical."""
    if lexicon is None or phrase in PEOPLE:
        return True
    if phrase in VISIBLE:
        return True
    numbers = lexicon.nouns(phrase)[:PHYSICAL_MEANINGS]
    if any(EVENT in lexicon.above(number) for number in numbers[:1]):
        return False  # "a kiss", whose second meaning is a sweet
    return not numbers or any(not {OBJECT, MATTER, PLACE}.isdisjoint(lexicon.above(number)) for number in numbers)


NARROW = 7
"""Minimum depth below the root of a known noun for which a narrower one is accepted ("bird", not "animal")."""


class Counterpart(NamedTuple):
    """The word that matches a named object."""

    word: str
    """As in the references or labels."""
    how: Literal["lemma", "synonym", "broader", "narrower", "alike", "person"]


@dataclass(frozen=True)
class Evidence:
    """Content of one image's references and labels."""

    lemmas: frozenset[str]
    """Lemmas of all content words."""
    nouns: tuple[str, ...]
    """Nouns and compounds, sorted."""
    people: tuple[str, ...]
    """Nouns for persons."""
    crowds: frozenset[str]
    """Nouns for several persons, which may match more than one person of a caption."""
    covers_people: bool
    """Whether persons would be named: labels alone do not name them."""


def gather_evidence(references: Sequence[Sentence], labels: Sequence[str], lexicon: Lexicon | None) -> Evidence:
    """Return the evidence of an image's references and labels."""
    lemmas, nouns, plurals = set(), set(), set()
    for sentence in references:
        for index, word in enumerate(sentence.words):
            if word.pos in ("NOUN", "PROPN", "VERB", "ADJ") and word.lemma != UNKNOWN:
                lemmas.add(word.lemma)
                if word.pos in ("NOUN", "PROPN"):
                    names = {word.lemma, find_compound(sentence, index, lexicon)[0]}
                    nouns |= names
                    plurals |= names if word.tag in ("NNS", "NNPS") or word.lemma in GROUPS | PEOPLE_GROUPS else set()
    for label in labels:
        name = " ".join(label.lower().replace("_", " ").split())
        if name:
            # The head is the last word before "of" ("hen of the woods"), otherwise the last word ("sea lion").
            head = name.split(" of ", 1)[0].split()[-1]
            lemmas |= {name, head}
            nouns.add(name)
    people = tuple(sorted(noun for noun in nouns if is_person(noun, lexicon)))
    return Evidence(frozenset(lemmas), tuple(sorted(nouns)), people, frozenset(plurals & set(people)), bool(references))


def find_counterpart(
    mention: Mention, evidence: Evidence, lexicon: Lexicon | None, matched: frozenset[str] = frozenset()
) -> Counterpart | None:
    """Return the counterpart of an object; None if there is none.

    Args:
        matched: people of the evidence already matched by other persons of the caption.
    """
    for name in (mention.phrase, mention.lemma):
        if name in evidence.lemmas:
            return Counterpart(name, "lemma")
    nouns = evidence.people if mention.person else tuple(noun for noun in evidence.nouns if noun not in evidence.people)
    if lexicon is not None:
        match = _by_meaning(mention, nouns, lexicon)
        if match is not None:
            return match
    for noun in nouns:
        if alike(mention.lemma, noun):
            return Counterpart(noun, "alike")
    if mention.person:
        sex = _sex(mention.phrase, lexicon)
        for person in evidence.people:
            if (person not in matched or person in evidence.crowds) and (not sex or _sex(person, lexicon) in (0, sex)):
                return Counterpart(person, "person")
    return None


def _by_meaning(mention: Mention, nouns: Sequence[str], lexicon: Lexicon) -> Counterpart | None:
    """Return a noun that is a synonym, hypernym or hyponym of the mention."""
    meanings = first_meanings(mention.phrase, lexicon)
    if mention.loose:
        meanings = (*meanings, *first_meanings(mention.lemma, lexicon))
    known = {noun: first_meanings(noun, lexicon) for noun in nouns}
    for noun, noun_meanings in known.items():
        if not set(meanings).isdisjoint(noun_meanings):
            return Counterpart(noun, "synonym")
    for noun, noun_meanings in known.items():
        if any(not lexicon.above(other).isdisjoint(meanings) for other in noun_meanings):
            return Counterpart(noun, "broader")
    for noun, noun_meanings in known.items():
        if any(
            other in lexicon.above(number) and lexicon.depth(other) >= NARROW for number in meanings for other in noun_meanings
        ):
            return Counterpart(noun, "narrower")
    return None


def _sex(person: str, lexicon: Lexicon | None) -> int:
    """Return ``MALE`` or ``FEMALE`` if the first meaning of a person's noun implies it, else 0."""
    numbers = lexicon.nouns(person)[:1] if lexicon is not None else ()
    if lexicon is None or not numbers:
        return 0
    kinds = {*numbers, *lexicon.above(numbers[0])}
    return next((sex for sex in (MALE, FEMALE) if sex in kinds), 0)
