"""Which words of a parsed caption are objects, and which objects a noun phrase stands for.

"On top of a table" names a table, "a group of men" men, "a cat and a dog" both, "the dog that runs" the dog, "without leaves"
nothing. What is told of them is read by ``scene_graph_reading.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from components.metrics.caption_words import GROUPS, PICTURES, POSITIONS
from components.metrics.parses import UNKNOWN, Sentence

NOUNS = ("NOUN", "PROPN")
RELATIVE = ("WDT", "WP", "WP$")


def object_positions(sentence: Sentence) -> list[int]:
    """The places of the words that are objects, in order."""
    phrases = NounPhrases(sentence)
    return [place for place in range(len(sentence.words)) if phrases.is_object(place)]


@dataclass
class NounPhrases:
    """The noun phrases of one sentence; words are told by their places."""

    sentence: Sentence

    def is_noun(self, place: int) -> bool:
        """Whether it is a noun, and a known word."""
        word = self.sentence.words[place]
        return word.pos in NOUNS and word.lemma != UNKNOWN and any(char.isalpha() for char in word.lemma)

    def is_object(self, place: int) -> bool:
        """Whether the word is a noun that stands for itself, and for something that is there."""
        word = self.sentence.words[place]
        if not self.is_noun(place) or word.dep in ("compound", "amod", "nmod", "npadvmod", "nummod"):
            return False
        return not (self.is_denied(place) or self.is_through(place) or self.is_position(place))

    def is_denied(self, place: int) -> bool:
        """Whether "no" or "without" says that it is not there."""
        words, head = self.sentence.words, self.sentence.words[place].head
        if words[place].dep == "conj" and self.is_denied(head):
            return True
        denied = any(words[child].lemma == "no" for child in self.sentence.below(place, "det"))
        return denied or (words[place].dep == "pobj" and words[head].lemma == "without")

    def is_through(self, place: int) -> bool:
        """Whether it only leads to what follows its "of": "group of", "picture of"."""
        lemma = self.sentence.words[place].lemma
        return lemma in PICTURES | GROUPS and bool(self.after_of(place))

    def is_position(self, place: int) -> bool:
        """Whether it is part of a preposition: "on top of", "to the left of", "in the background"."""
        word = self.sentence.words[place]
        return word.lemma in POSITIONS and (word.dep in ("pobj", "dep", "advmod") or bool(self.after_of(place)))

    def after_of(self, place: int) -> list[int]:
        """The nouns that follow its "of"."""
        words = self.sentence.words
        preps = self.sentence.below(place, "prep")
        if words[place].lemma == "close":  # "a close up of"
            preps = preps + [other for prep in preps if words[prep].lemma == "up" for other in self.sentence.below(prep, "prep")]
        return [noun for prep in preps if words[prep].lemma == "of" for noun in self.sentence.below(prep, "pobj")]

    def joined(self, place: int) -> list[int]:
        """A word and what "and" or commas join to it."""
        found = [place]
        for other in self.sentence.below(place, "conj"):
            found.extend(self.joined(other))
        return found

    def things(self, places: Iterable[int]) -> list[int]:
        """The objects that noun phrases stand for, joined ones among them."""
        words, found = self.sentence.words, []
        for first in places:
            for place in self.joined(first):
                if self.is_through(place) or (self.is_position(place) and self.after_of(place)):
                    found.extend(self.things(self.after_of(place)))
                elif self.is_object(place):
                    found.append(place)
                elif words[place].tag in RELATIVE or (words[place].lemma == "that" and words[place].dep.startswith("nsubj")):
                    found.extend(self.antecedents(place))
        return found

    def antecedents(self, place: int) -> list[int]:
        """What a relative pronoun stands for."""
        words = self.sentence.words
        while words[place].head != place:
            if words[place].dep == "relcl":
                return self.things_alone(words[place].head)
            place = words[place].head
        return []

    def things_alone(self, place: int) -> list[int]:
        """As :meth:`things`, without what is joined: a relative clause tells of the noun before it."""
        if self.is_through(place) or (self.is_position(place) and self.after_of(place)):
            return self.things(self.after_of(place))
        return [place] if self.is_object(place) else []

    def leading(self, place: int) -> list[int]:
        """The "group of" and "picture of" words that lead to this noun, nearest first."""
        words, found, at = self.sentence.words, [], place
        while words[at].dep == "conj":
            at = words[at].head
        while words[at].dep == "pobj" and words[words[at].head].lemma == "of":
            at = words[words[at].head].head
            at = words[at].head if words[at].lemma == "up" else at
            if not self.is_through(at):
                break
            found.append(at)
        return found

    def things_around(self, place: int) -> list[int]:
        """What a participle after a noun tells of: that noun, and those it is joined to ("a man and a woman sitting")."""
        first = place
        while self.sentence.words[first].dep == "conj" and self.is_noun(self.sentence.words[first].head):
            first = self.sentence.words[first].head
        return self.things([first])
