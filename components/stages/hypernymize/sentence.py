"""A parsed caption under rewriting: words that may be struck out or replaced, and the named entities among them.

Positions and governors stay those of the parse whatever is struck out, so every step can ask the same questions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from components.language.parser import Parse

MODIFIERS = frozenset({"compound", "nmod", "amod", "nummod", "quantmod", "npadvmod"})
"""Dependencies by which a word modifies a noun to its right."""
CLOSING = frozenset(")]}.,;:!?%”’»")
"""Marks that follow a word without a space."""


@dataclass
class Word:
    """One token; ``text`` changes when it is replaced, ``pos`` when the tagger is corrected."""

    text: str
    space: bool
    lemma: str
    pos: str
    tag: str
    dep: str
    head: int
    alive: bool = True
    renamed: bool = False
    """Whether it is a hypernym put in for a name."""


@dataclass
class Entity:
    """A named entity: token positions ``start`` to ``end`` (not included) and its OntoNotes type."""

    start: int
    end: int
    kind: str


@dataclass
class Sentence:
    """Words and entities of one caption."""

    words: list[Word]
    entities: list[Entity] = field(default_factory=list)

    @classmethod
    def of(cls, parse: Parse) -> Sentence:
        """The sentence of a parse, nothing struck out."""
        columns = zip(
            parse["text"], parse["space"], parse["lemma"], parse["pos"], parse["tag"], parse["dep"], parse["head"], strict=True
        )
        return cls([Word(*column) for column in columns], [Entity(*entity) for entity in parse["entities"]])

    def alive(self) -> list[int]:
        """The positions not struck out."""
        return [position for position, word in enumerate(self.words) if word.alive]

    def strike(self, positions: Iterable[int]) -> None:
        """Strike words out."""
        for position in positions:
            self.words[position].alive = False

    def before(self, position: int) -> int | None:
        """The nearest word left of a position that is not struck out."""
        return next((place for place in range(position - 1, -1, -1) if self.words[place].alive), None)

    def after(self, position: int) -> int | None:
        """The nearest word right of a position that is not struck out."""
        return next((place for place in range(position + 1, len(self.words)) if self.words[place].alive), None)

    def living(self, entity: Entity) -> bool:
        """Whether any word of an entity is left."""
        return any(self.words[place].alive for place in range(entity.start, entity.end))

    def entity_at(self, position: int) -> Entity | None:
        """The entity that covers a position."""
        return next((entity for entity in self.entities if entity.start <= position < entity.end), None)

    def text_of(self, start: int, end: int) -> str:
        """The words of a span that are not struck out, with spaces between."""
        return " ".join(word.text for word in self.words[start:end] if word.alive)

    def modifies(self, start: int, end: int) -> int | None:
        """The noun right of the span ``start`` to ``end`` that the span modifies, or None.

        Between the two there may be nothing but further modifiers: a verb or a preposition in between parts them,
        whatever the parser says.
        """
        inside = range(start, end)
        tops = [place for place in inside if self.words[place].head not in inside or self.words[place].head == place]
        for place in tops:
            noun = self.words[place].head
            if noun < end or self.words[place].dep not in MODIFIERS or not self.words[noun].alive:
                continue
            between = (word for word in self.words[end:noun] if word.alive)
            if self.words[noun].pos in ("NOUN", "PROPN") and all(
                word.pos in ("NOUN", "PROPN", "ADJ", "NUM", "PUNCT", "SYM") and word.text not in (",", "(", ")")
                for word in between
            ):
                return noun
        return None

    def noun_beside(self, entity: Entity) -> int | None:
        """The common noun that stands right after an entity, which the entity then modifies; None for a subject's verb."""
        after = self.after(entity.end - 1)
        if after is None or after != entity.end or self.words[after].pos != "NOUN" or self.words[after].text[:1].isupper():
            return None
        last = self.words[entity.end - 1]
        return None if last.dep in ("nsubj", "nsubjpass") and entity.kind == "PERSON" else after

    def render(self) -> str:
        """The text as it stands."""
        text, glue, gap = "", False, False
        for word in self.words:
            if not word.alive:
                glue, gap = glue or word.space, True
                continue
            # Where words were struck out, the space that stood among them stays, except before a closing mark.
            if text and glue and not (gap and word.text in CLOSING):
                text += " "
            text += word.text
            glue, gap = word.space, False
        return " ".join(text.split())
