"""Scene graphs of parsed English captions: objects, their attributes, and relations between them.

In the manner of SPICE (Anderson et al. 2016, section 3.1), whose example it reproduces: "a young girl standing on top of a tennis
court" is (girl), (court), (girl, young), (girl, stand), (court, tennis), (girl, on top of, court). The rules are our own, over
spaCy's dependency labels instead of Stanford's, so graphs differ from SPICE's (docs/metrics.md).

Rules: nouns are objects, by lemma; adjectives, participles, counts, compounds and verbs without an object are attributes;
prepositions, verbs with an object and possessives are relations; passives are reversed; coordinated words share all tuples;
"group of", "picture of" and "top of" name no object; objects negated by "no" or "without" are left out, as are pronouns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from components.metrics.caption_words import COUNTED, GROUPS, number_word
from components.metrics.noun_phrases import NOUNS, RELATIVE, NounPhrases
from components.metrics.parses import UNKNOWN, Sentence

Tuple = tuple[str, ...]
"""Lemmas: one for an object, two for an attribute (object first), three for a relation (subject, relation, object)."""


@dataclass(frozen=True)
class SceneGraph:
    """A sorted set of tuples."""

    tuples: tuple[Tuple, ...] = ()

    @property
    def objects(self) -> tuple[str, ...]:
        """The objects' lemmas."""
        return tuple(item[0] for item in self.tuples if len(item) == 1)


def scene_graph(sentence: Sentence) -> SceneGraph:
    """Return the scene graph of one caption."""
    return _Reader(sentence).read()


@dataclass
class _Reader(NounPhrases):
    tuples: set[Tuple] = field(default_factory=set)

    def read(self) -> SceneGraph:
        for position, word in enumerate(self.sentence.words):
            if self.is_object(position):
                self.tuples.add((word.lemma,))
                self.describe(position)
            elif word.pos in ("VERB", "AUX") and word.dep not in ("aux", "auxpass", "amod", "compound"):
                self.act(position)
        return SceneGraph(tuple(sorted(self.tuples)))

    def add_attributes(self, things: Iterable[int], attributes: Iterable[str]) -> None:
        names = [name for name in attributes if name != UNKNOWN]
        self.tuples.update((self.lemma(thing), name) for thing in things for name in names)

    def add_relations(self, subjects: Iterable[int], relation: str, objects: Iterable[int]) -> None:
        others = list(objects)
        self.tuples.update((self.lemma(one), relation, self.lemma(other)) for one in subjects for other in others if one != other)

    def lemma(self, position: int) -> str:
        return self.sentence.words[position].lemma

    def describe(self, position: int) -> None:
        """Add the attributes and relations of a noun."""
        words = self.sentence.words
        for child in self.sentence.below(position, "amod", "nummod", "compound", "nmod", "quantmod"):
            for modifier in self.joined(child):
                self.add_attributes([position], [number_word(words[modifier].lemma)])
        for child in self.sentence.below(position, "poss"):
            self.add_relations(self.things([child]), "have", [position])
        for head in self.leading(position):
            self.add_attributes(
                [position], [COUNTED.get(words[head].lemma, words[head].lemma)] if words[head].lemma in GROUPS else []
            )
            self.add_attributes([position], [words[child].lemma for child in self.sentence.below(head, "amod")])
            self.prepositions(head, [position], skip_of=True)
        self.prepositions(position, [position])

    def prepositions(self, position: int, subjects: list[int], *, skip_of: bool = False) -> None:
        """Add relations through the prepositions of a noun or verb."""
        words = self.sentence.words
        for prep in self.sentence.below(position, "prep", "advmod", "prt", "acomp", "agent", "dative"):
            if words[prep].dep == "agent" or (skip_of and words[prep].lemma in ("of", "up")):
                continue
            for preposition in self.joined(prep):
                self.follow(preposition, "", subjects)

    def follow(self, prep: int, before: str, subjects: list[int]) -> None:
        """Add the relations of one preposition with those that follow it: "next to", "out of", "on top of"."""
        words = self.sentence.words
        name = f"{before} {words[prep].text.lower()}".strip()
        for noun in self.sentence.below(prep, "pobj"):
            if self.is_position(noun) and self.after_of(noun):
                self.add_relations(subjects, f"{name} {words[noun].lemma} of", self.things(self.after_of(noun)))
            else:
                self.add_relations(subjects, name, self.things([noun]))
        for other in self.sentence.below(prep, "prep"):
            self.follow(other, name, subjects)

    def act(self, position: int) -> None:
        """Add what a verb expresses about its subject and object."""
        words, below = self.sentence.words, self.sentence.below
        subjects = self.subjects(position)
        passive = self.is_passive(position)
        objects = self.things(below(position, "dobj"))
        agents = self.things(noun for by in below(position, "agent") for noun in below(by, "pobj"))
        if words[position].dep == "relcl" and not objects and not passive and self.object_is_head(position):
            objects = self.antecedents(position) or self.things_alone(words[position].head)
        verb = " ".join([words[position].lemma, *(words[child].lemma for child in below(position, "prt"))])
        if words[position].lemma == "be":
            complements = self.things(below(position, "attr"))
            if not subjects:
                subjects = complements  # "there is a dog", "this is a dog"
            else:
                self.add_attributes(subjects, [self.lemma(thing) for thing in complements])
            self.add_adjectives(position, subjects)
        elif agents:
            self.add_relations(agents, verb, subjects)
        elif objects:
            self.add_relations(subjects, verb, objects)
        else:
            self.add_attributes(subjects, [verb])
            self.add_adjectives(position, subjects)
        self.prepositions(position, subjects)

    def add_adjectives(self, position: int, subjects: list[int]) -> None:
        for child in self.sentence.below(position, "acomp"):
            # In "is next to a car" the preposition depends on "next", which is then not an attribute.
            if not self.sentence.below(child, "prep"):
                self.add_attributes(subjects, [self.lemma(one) for one in self.joined(child)])

    def is_passive(self, position: int) -> bool:
        return bool(self.sentence.below(position, "auxpass", "nsubjpass"))

    def object_is_head(self, position: int) -> bool:
        """Return whether a relative clause has its own subject, so that the noun before it is the object."""
        words = self.sentence.words
        subjects = (words[child] for child in self.sentence.below(position, "nsubj"))
        return any(word.tag not in RELATIVE and word.lemma != "that" for word in subjects)

    def subjects(self, position: int, seen: frozenset[int] = frozenset()) -> list[int]:
        """Return the subjects of a verb; a verb without one has that of the verb or noun above it."""
        if position in seen:
            return []
        word = self.sentence.words[position]
        subjects = self.sentence.below(position, "nsubj", "nsubjpass")
        if subjects:
            return self.things(subjects)
        if word.dep in ("acl", "relcl") and word.tag in ("VBG", "VBN", "VBD", "VBZ", "VBP"):
            return self.things_around(word.head)
        if word.dep in ("conj", "advcl", "xcomp", "ccomp", "pcomp", "prep", "parataxis") and word.head != position:
            above = self.sentence.words[word.head]
            if above.pos in ("VERB", "AUX"):
                return self.subjects(word.head, seen | {position})
            if above.pos in NOUNS and word.tag in ("VBG", "VBN"):
                return self.things_around(word.head)
            if above.head != word.head:
                return self.subjects(above.head, seen | {position}) if self.sentence.words[above.head].pos == "VERB" else []
        return []
