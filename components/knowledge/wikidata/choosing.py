"""Of Wikidata's items that bear a name, which one is meant, and which word says what it is.

An item is a candidate when one of its English labels or aliases is the name. Candidates are tried by the number of their
sitelinks (Wikipedias and sister projects that have a page on it), the most first, and held to the entity's type:
  * PERSON takes only a human (Q5), called by an occupation (P106), or a fictional character; other types take no human;
  * else the item is called by what it is an instance of (P31), and where that is no common English word of a kind that suits the
    type, by the nearest superclass (P279) that is.
Among several occupations or classes the first in Wikidata's order (preferred rank first) that is a common word and says
more than the type does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from components.knowledge.kinds import Gate, Known
from components.knowledge.words import VAGUE, Words, best

HUMAN = 5
STEPS = 4
"""Superclasses walked up, at most, from what an item is an instance of."""
WIDTH = 64
"""Classes looked at, at most, for one item."""


class Candidate(NamedTuple):
    """An item that bears the name: QIDs as numbers, in Wikidata's order."""

    item: int
    sitelinks: int
    classes: Sequence[int]
    """P31."""
    occupations: Sequence[int]
    """P106."""


class Classes(Protocol):
    """What is known of classes and occupations."""

    def label(self, item: int) -> str:
        """Return the English label, or ""."""
        ...

    def above(self, item: int) -> Sequence[int]:
        """Its direct superclasses (P279)."""
        ...


class Chooser:
    """Chooses by one dictionary."""

    def __init__(self, words: Words, gate: Gate) -> None:
        self.words, self.gate = words, gate

    def choose(self, candidates: Sequence[Candidate], classes: Classes, kind: str) -> Known | None:
        """Return the hypernym of the first candidate that suits the type, with ``wikidata Q<number>`` as its source."""
        for candidate in sorted(candidates, key=lambda each: (-each.sitelinks, each.item)):
            if HUMAN in candidate.classes:
                word = self._occupation(candidate.occupations, classes) if kind == "PERSON" else ""
            else:
                word = self.class_word(tuple(candidate.classes), classes, kind)
            if word:
                return Known(word, f"wikidata Q{candidate.item}")
        return None

    def _suits(self, noun: str, kind: str) -> bool:
        # What is no human is somebody only as a character: a manufacturer is one as well in a rarer sense.
        return self.gate.suits(noun, kind) if kind != "PERSON" else self.gate.is_character(noun)

    def _occupation(self, occupations: Sequence[int], classes: Classes) -> str:
        nouns = [self.words.noun(classes.label(item)) for item in occupations]
        return best([noun for noun in nouns if noun and self.gate.suits(noun, "PERSON")])

    def class_word(self, items: tuple[int, ...], classes: Classes, kind: str) -> str:
        """Return the word of the nearest class, itself first, that suits the type; "" where none does."""
        seen: set[int] = set()
        row: list[int] = list(dict.fromkeys(items))
        vague = ""
        for _ in range(STEPS + 1):
            nouns = [noun for item in row if (noun := self.words.noun(classes.label(item))) and self._suits(noun, kind)]
            word = best(nouns)
            if word and word not in VAGUE:
                return word
            vague = vague or word
            if vague == "company":  # what lies above a business says no more
                break
            seen.update(row)
            above = [item for each in row for item in classes.above(each) if item not in seen]
            row = list(dict.fromkeys(above))[: max(0, WIDTH - len(seen))]
            if not row:
                break
        return vague
