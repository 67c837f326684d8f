"""Chooses among Wikidata's items of a name, and the word for the chosen item.

An item is a candidate when one of its English labels or aliases is the name. Candidates are tried by falling number of
sitelinks (Wikimedia projects with a page on it), restricted by the entity's type:
  * PERSON accepts only a human (Q5), with an occupation (P106) as the word, or a fictional character; other types accept no
    human;
  * otherwise the word is the class (P31), or the nearest superclass (P279) that is a common English word fitting the type.
Among several occupations or classes the first in Wikidata's order (preferred rank first) that is a common word and more
specific than the type is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from components.knowledge.kinds import Gate, HypernymAnswer
from components.knowledge.words import VAGUE, Words, most_specific

HUMAN = 5
STEPS = 4
"""Maximum steps up from an item's classes."""
WIDTH = 64
"""Maximum classes visited per item."""


class Candidate(NamedTuple):
    """An item with the name; QIDs as numbers, in Wikidata's order."""

    item: int
    sitelinks: int
    classes: Sequence[int]
    """P31."""
    occupations: Sequence[int]
    """P106."""


class Classes(Protocol):
    """Labels and superclasses of classes and occupations."""

    def label(self, item: int) -> str:
        """Return the English label, or ""."""
        ...

    def above(self, item: int) -> Sequence[int]:
        """Return the direct superclasses (P279)."""
        ...


class Chooser:
    """Chooses items and words."""

    def __init__(self, words: Words, gate: Gate) -> None:
        self.words, self.gate = words, gate

    def choose(self, candidates: Sequence[Candidate], classes: Classes, kind: str) -> HypernymAnswer | None:
        """Return the hypernym of the first candidate that fits the type, with ``wikidata Q<number>`` as its source."""
        for candidate in sorted(candidates, key=lambda item: (-item.sitelinks, item.item)):
            if HUMAN in candidate.classes:
                word = self._occupation(candidate.occupations, classes) if kind == "PERSON" else ""
            else:
                word = self.class_word(tuple(candidate.classes), classes, kind)
            if word:
                return HypernymAnswer(word, f"wikidata Q{candidate.item}")
        return None

    def _suits(self, noun: str, kind: str) -> bool:
        # Of a non-human only fictional characters are persons; rarer senses ("manufacturer") would match too.
        return self.gate.suits(noun, kind) if kind != "PERSON" else self.gate.is_character(noun)

    def _occupation(self, occupations: Sequence[int], classes: Classes) -> str:
        nouns = [self.words.noun(classes.label(item)) for item in occupations]
        return most_specific([noun for noun in nouns if noun and self.gate.suits(noun, "PERSON")])

    def class_word(self, items: tuple[int, ...], classes: Classes, kind: str) -> str:
        """Return the word of the nearest class, starting with ``items``, that fits the type; "" for none."""
        seen: set[int] = set()
        row: list[int] = list(dict.fromkeys(items))
        vague = ""
        for _ in range(STEPS + 1):
            nouns = [noun for item in row if (noun := self.words.noun(classes.label(item))) and self._suits(noun, kind)]
            word = most_specific(nouns)
            if word and word not in VAGUE:
                return word
            vague = vague or word
            if vague == "company":  # superclasses of a business are no more specific
                break
            seen.update(row)
            above = [item for each in row for item in classes.above(each) if item not in seen]
            row = list(dict.fromkeys(above))[: max(0, WIDTH - len(seen))]
            if not row:
                break
        return vague
