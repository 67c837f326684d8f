"""Objects in a parsed caption: which words are objects.

"On top of a table" names a table, "a group of men" men, "a cat and a dog" both, "without leaves" nothing.
Nouns in captions may name no object themselves: "on top of a court" names one object, not two; "a picture of a car" shows a car.
The lists of these words, with what they are for, are in ``data/caption_words.yaml``. English.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from components.core.params import YAML_LOADER
from components.metrics.parses import UNKNOWN, Sentence

_LISTS = yaml.load((Path(__file__).parent / "data" / "caption_words.yaml").read_text(encoding="utf-8"), YAML_LOADER)
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
