"""Objects in a parsed caption: which words are objects, and which objects a noun phrase refers to.

"On top of a table" refers to a table, "a group of men" to men, "a cat and a dog" to both, "the dog that runs" to the dog,
"without leaves" to nothing. ``scene_graph_reading.py`` reads their attributes and relations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from components.metrics.caption_words import GROUPS, IMAGES, POSITIONS
from components.metrics.parses import UNKNOWN, Sentence

NOUNS = ("NOUN", "PROPN")
RELATIVE = ("WDT", "WP", "WP$")


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

    def joined(self, position: int) -> list[int]:
        """Return a word and those coordinated with it by "and" or commas."""
        coordinated = [position]
        for other in self.sentence.below(position, "conj"):
            coordinated.extend(self.joined(other))
        return coordinated

    def things(self, places: Iterable[int]) -> list[int]:
        """Return the objects that noun phrases refer to, with coordinated ones."""
        words, objects = self.sentence.words, []
        for first in places:
            for position in self.joined(first):
                if self.is_container_noun(position) or (self.is_position(position) and self.after_of(position)):
                    objects.extend(self.things(self.after_of(position)))
                elif self.is_object(position):
                    objects.append(position)
                elif words[position].tag in RELATIVE or (
                    words[position].lemma == "that" and words[position].dep.startswith("nsubj")
                ):
                    objects.extend(self.antecedents(position))
        return objects

    def antecedents(self, position: int) -> list[int]:
        """Return the objects that a relative pronoun refers to."""
        words = self.sentence.words
        while words[position].head != position:
            if words[position].dep == "relcl":
                return self.things_alone(words[position].head)
            position = words[position].head
        return []

    def things_alone(self, position: int) -> list[int]:
        """Return :meth:`things` without coordinated ones: a relative clause describes the noun before it."""
        if self.is_container_noun(position) or (self.is_position(position) and self.after_of(position)):
            return self.things(self.after_of(position))
        return [position] if self.is_object(position) else []

    def leading(self, position: int) -> list[int]:
        """Return the "group of" and "picture of" words that lead to this noun, nearest first."""
        words, leading_words, index = self.sentence.words, [], position
        while words[index].dep == "conj":
            index = words[index].head
        while words[index].dep == "pobj" and words[words[index].head].lemma == "of":
            index = words[words[index].head].head
            index = words[index].head if words[index].lemma == "up" else index
            if not self.is_container_noun(index):
                break
            leading_words.append(index)
        return leading_words

    def things_around(self, position: int) -> list[int]:
        """Return the objects a participle after a noun describes: that noun, and those coordinated with it ("a man and a woman
        sitting")."""
        first = position
        while self.sentence.words[first].dep == "conj" and self.is_noun(self.sentence.words[first].head):
            first = self.sentence.words[first].head
        return self.things([first])
