"""A parsed caption during rewriting: words that can be removed or replaced, and the named entities among them.

Positions and heads stay those of the parse after removals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from components.language.parser import Parse

MODIFIERS = frozenset({"compound", "nmod", "amod", "nummod", "quantmod", "npadvmod"})
"""Dependencies of a word that modifies a noun to its right."""
SUBJECTS = frozenset({"nsubj", "nsubjpass"})
"""Dependencies of a verb's subject."""
NUMBERS = frozenset({"CARDINAL", "ORDINAL", "QUANTITY", "MONEY", "PERCENT"})
"""Entity types of amounts."""
SEVERAL = frozenset({"hundred", "thousand", "million", "billion", "dozen"})
"""Numbers with an article that count several things: "a hundred boats"."""
PLACES = frozenset({"GPE", "LOC", "FAC"})
"""Entity types of places."""
CLOSING = frozenset(")]}.,;:!?%”’»")
"""Marks that follow a word without a space."""
OPENING = frozenset("([{")
"""Marks that a word follows without a space."""


@dataclass
class Word:
    """A token; a replacement changes ``text``, a corrected tag changes ``pos``."""

    text: str
    space: bool
    lemma: str
    pos: str
    tag: str
    dep: str
    head: int
    alive: bool = True
    renamed: bool = False
    """Whether the word is a hypernym that replaced a name."""
    is_class: bool = False
    """Whether the word is a class of things in spite of its capital: "Frisbee"."""
    beside: bool = False
    """Whether the word was removed from beside the sentence, which that cannot break."""


@dataclass
class Entity:
    """A named entity: token positions ``start`` to ``end`` (exclusive) and its OntoNotes type."""

    start: int
    end: int
    kind: str
    said: str = ""
    """The type that the recogniser gave it; "" for a name that it missed."""
    doubt: str = ""
    """The signals of a name whose kind they do not show."""


@dataclass
class Sentence:
    """Words and entities of one caption."""

    words: list[Word]
    entities: list[Entity] = field(default_factory=list)
    names: Sequence[Entity] = ()
    """The names that a second recogniser found; their types are its labels."""

    @classmethod
    def of(cls, parse: Parse, names: Sequence[Entity] = ()) -> Sentence:
        """Return the sentence of a parse with no word removed."""
        columns = zip(
            parse["text"], parse["space"], parse["lemma"], parse["pos"], parse["tag"], parse["dep"], parse["head"], strict=True
        )
        entities = [Entity(start, end, kind, said=kind) for start, end, kind in parse["entities"]]
        return cls([Word(*column) for column in columns], entities, names)

    def alive(self) -> list[int]:
        """Return the positions that are not removed."""
        return [position for position, word in enumerate(self.words) if word.alive]

    def strike(self, positions: Iterable[int], *, beside: bool = False) -> str:
        """Remove words; return those that had remained, separated by spaces."""
        struck = [self.words[position] for position in positions if self.words[position].alive]
        for word in struck:
            word.alive, word.beside = False, beside
        return " ".join(word.text for word in struck)

    def before(self, position: int) -> int | None:
        """Return the nearest remaining position left of a position."""
        for index in range(position - 1, -1, -1):
            if self.words[index].alive:
                return index
        return None

    def after(self, position: int) -> int | None:
        """Return the nearest remaining position right of a position."""
        for index in range(position + 1, len(self.words)):
            if self.words[index].alive:
                return index
        return None

    def living(self, entity: Entity) -> bool:
        """Return whether any word of an entity remains."""
        return any(self.words[index].alive for index in range(entity.start, entity.end))

    def entity_at(self, position: int) -> Entity | None:
        """Return the entity that covers a position."""
        return next((entity for entity in self.entities if entity.start <= position < entity.end), None)

    def text_of(self, start: int, end: int) -> str:
        """Return the remaining words of a span, separated by spaces."""
        return " ".join(word.text for word in self.words[start:end] if word.alive)

    def modifies(self, start: int, end: int) -> int | None:
        """Return the position of the noun right of the span ``start`` to ``end`` that the span modifies, or None.

        Only further modifiers may lie between: a verb or a preposition separates them, whatever the parser says.
        """
        inside = range(start, end)
        tops = [index for index in inside if self.words[index].head not in inside or self.words[index].head == index]
        for index in tops:
            noun = self.words[index].head
            if noun < end or self.words[index].dep not in MODIFIERS or not self.words[noun].alive:
                continue
            between = (word for word in self.words[end:noun] if word.alive)
            if self.words[noun].pos in ("NOUN", "PROPN") and all(
                (word.pos in ("NOUN", "PROPN", "ADJ", "NUM", "PUNCT", "SYM") and word.text not in (",", "(", ")"))
                or (word.pos == "CCONJ" and word.head == index)
                for word in between
            ):
                return noun
        return None

    def noun_beside(self, entity: Entity) -> int | None:
        """Return the position of the common noun right after an entity, which the entity modifies; None for a subject's verb."""
        after = self.after(entity.end - 1)
        if after is None or after != entity.end or self.words[after].pos != "NOUN" or self.words[after].text[:1].isupper():
            return None
        last = self.words[entity.end - 1]
        return None if last.dep in SUBJECTS and entity.kind == "PERSON" else after

    def is_modifier(self, entity: Entity) -> bool:
        """Return whether an entity modifies a noun right of it, by the parse or by its place."""
        return self.modifies(entity.start, entity.end) is not None or self.noun_beside(entity) is not None

    def is_below(self, position: int, top: int) -> bool:
        """Return whether a word is ``top`` or depends on it; damaged parses may have cycles."""
        for _ in self.words:
            if position == top or self.words[position].head == position:
                break
            position = self.words[position].head
        return position == top

    def subtree(self, top: int) -> list[int]:
        """Return the remaining positions of a word and of those that depend on it, in order."""
        return [position for position in self.alive() if self.is_below(position, top)]

    def render(self) -> str:
        """Return the text of the remaining words."""
        text, glue, gap = "", False, False
        for word in self.words:
            if not word.alive:
                glue, gap = glue or word.space, True
                continue
            # A removed span leaves one space, except before a closing mark and after an opening one.
            if text and glue and not (gap and (word.text in CLOSING or text[-1] in OPENING)):
                text += " "
            text += word.text
            glue, gap = word.space, False
        return " ".join(text.split())
