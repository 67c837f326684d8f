"""From a parsed English caption to its scene graph: objects, their attributes, and relations between them.

In the spirit of SPICE (Anderson et al. 2016, section 3.1), whose example it gives tuple for tuple: "a young girl standing on
top of a tennis court" is (girl), (court), (girl, young), (girl, stand), (court, tennis), (girl, on top of, court). The rules
are our own, over spaCy's dependency labels instead of Stanford's, so graphs differ from SPICE's (docs/metrics.md).

Rules: nouns are objects, by lemma; adjectives, participles, counts, compounds and verbs without an object are attributes;
prepositions, verbs with an object and possessives are relations; a passive is turned round; what "and" joins shares all;
"group of", "picture of" and "top of" name no object; what "no" or "without" denies is none; pronouns are left out.
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
    """A set of tuples, sorted."""

    tuples: tuple[Tuple, ...] = ()

    @property
    def objects(self) -> tuple[str, ...]:
        """The objects' lemmas."""
        return tuple(item[0] for item in self.tuples if len(item) == 1)


def scene_graph(sentence: Sentence) -> SceneGraph:
    """The scene graph of one caption."""
    return _Reader(sentence).read()


@dataclass
class _Reader(NounPhrases):
    found: set[Tuple] = field(default_factory=set)

    def read(self) -> SceneGraph:
        for place, word in enumerate(self.sentence.words):
            if self.is_object(place):
                self.found.add((word.lemma,))
                self.describe(place)
            elif word.pos in ("VERB", "AUX") and word.dep not in ("aux", "auxpass", "amod", "compound"):
                self.act(place)
        return SceneGraph(tuple(sorted(self.found)))

    def add_attributes(self, things: Iterable[int], attributes: Iterable[str]) -> None:
        names = [name for name in attributes if name != UNKNOWN]
        self.found.update((self.lemma(thing), name) for thing in things for name in names)

    def add_relations(self, subjects: Iterable[int], relation: str, objects: Iterable[int]) -> None:
        others = list(objects)
        self.found.update((self.lemma(one), relation, self.lemma(other)) for one in subjects for other in others if one != other)

    def lemma(self, place: int) -> str:
        return self.sentence.words[place].lemma

    def describe(self, place: int) -> None:
        """Attributes and relations that hang on a noun."""
        words = self.sentence.words
        for child in self.sentence.below(place, "amod", "nummod", "compound", "nmod", "quantmod"):
            for one in self.joined(child):
                self.add_attributes([place], [number_word(words[one].lemma)])
        for child in self.sentence.below(place, "poss"):
            self.add_relations(self.things([child]), "have", [place])
        for head in self.leading(place):
            self.add_attributes(
                [place], [COUNTED.get(words[head].lemma, words[head].lemma)] if words[head].lemma in GROUPS else []
            )
            self.add_attributes([place], [words[child].lemma for child in self.sentence.below(head, "amod")])
            self.prepositions(head, [place], skip_of=True)
        self.prepositions(place, [place])

    def prepositions(self, place: int, subjects: list[int], *, skip_of: bool = False) -> None:
        """Relations through the prepositions below a noun or verb."""
        words = self.sentence.words
        for prep in self.sentence.below(place, "prep", "advmod", "prt", "acomp", "agent", "dative"):
            if words[prep].dep == "agent" or (skip_of and words[prep].lemma in ("of", "up")):
                continue
            for one in self.joined(prep):
                self.follow(one, "", subjects)

    def follow(self, prep: int, before: str, subjects: list[int]) -> None:
        """One preposition, with those it leads to: "next to", "out of", "on top of"."""
        words = self.sentence.words
        name = f"{before} {words[prep].text.lower()}".strip()
        for noun in self.sentence.below(prep, "pobj"):
            if self.is_position(noun) and self.after_of(noun):
                self.add_relations(subjects, f"{name} {words[noun].lemma} of", self.things(self.after_of(noun)))
            else:
                self.add_relations(subjects, name, self.things([noun]))
        for other in self.sentence.below(prep, "prep"):
            self.follow(other, name, subjects)

    def act(self, place: int) -> None:
        """What a verb tells of its subject and object."""
        words, below = self.sentence.words, self.sentence.below
        subjects = self.subjects(place)
        passive = self.is_passive(place)
        objects = self.things(below(place, "dobj"))
        agents = self.things(noun for by in below(place, "agent") for noun in below(by, "pobj"))
        if words[place].dep == "relcl" and not objects and not passive and self.object_is_head(place):
            objects = self.antecedents(place) or self.things_alone(words[place].head)
        verb = " ".join([words[place].lemma, *(words[child].lemma for child in below(place, "prt"))])
        if words[place].lemma == "be":
            told = self.things(below(place, "attr"))
            if not subjects:
                subjects = told  # "there is a dog", "this is a dog"
            else:
                self.add_attributes(subjects, [self.lemma(thing) for thing in told])
            self.add_adjectives(place, subjects)
        elif agents:
            self.add_relations(agents, verb, subjects)
        elif objects:
            self.add_relations(subjects, verb, objects)
        else:
            self.add_attributes(subjects, [verb])
            self.add_adjectives(place, subjects)
        self.prepositions(place, subjects)

    def add_adjectives(self, place: int, subjects: list[int]) -> None:
        for child in self.sentence.below(place, "acomp"):
            # "is next to a car" hangs its preposition on an adjective, which then is none.
            if not self.sentence.below(child, "prep"):
                self.add_attributes(subjects, [self.lemma(one) for one in self.joined(child)])

    def is_passive(self, place: int) -> bool:
        return bool(self.sentence.below(place, "auxpass", "nsubjpass"))

    def object_is_head(self, place: int) -> bool:
        """Whether a relative clause has a subject of its own, so that the noun before it is the object."""
        words = self.sentence.words
        own = (words[child] for child in self.sentence.below(place, "nsubj"))
        return any(word.tag not in RELATIVE and word.lemma != "that" for word in own)

    def subjects(self, place: int, seen: frozenset[int] = frozenset()) -> list[int]:
        """Who does it, or to whom it is done; a verb without a subject has that of the verb or noun above it."""
        if place in seen:
            return []
        word = self.sentence.words[place]
        own = self.sentence.below(place, "nsubj", "nsubjpass")
        if own:
            return self.things(own)
        if word.dep in ("acl", "relcl") and word.tag in ("VBG", "VBN", "VBD", "VBZ", "VBP"):
            return self.things_around(word.head)
        if word.dep in ("conj", "advcl", "xcomp", "ccomp", "pcomp", "prep", "parataxis") and word.head != place:
            above = self.sentence.words[word.head]
            if above.pos in ("VERB", "AUX"):
                return self.subjects(word.head, seen | {place})
            if above.pos in NOUNS and word.tag in ("VBG", "VBN"):
                return self.things_around(word.head)
            if above.head != word.head:
                return self.subjects(above.head, seen | {place}) if self.sentence.words[above.head].pos == "VERB" else []
        return []
