"""Whether an object that a caption names has a counterpart in what is known of its picture.

In this order: the same **lemma** anywhere in the references (whatever its part of speech: "skateboard" beside "skateboarding")
or as the last word of a label; a **synonym** (a WordNet synset in common); a **broader** word (a hypernym: "animal" where a
dog is known); a **narrower** word, where what is known is narrow already ("gull" where a bird is known, not where an animal
is); a word **alike**, by the list of ``caption_words``; and for a person a **person**, unless what is known is of the other
sex alone or stands for another person of the caption already. Persons are held to persons, all else to all else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from components.metrics.caption_words import GROUPS, PEOPLE_GROUPS, alike
from components.metrics.lexicon import FEMALE, MALE, Lexicon
from components.metrics.mentions import Mention, find_compound, first_meanings, is_person
from components.metrics.parses import UNKNOWN, Sentence

NARROW = 7
"""Steps below the root that a known noun lies at least, so that a narrower one may stand for it ("bird", not "animal")."""


class Counterpart(NamedTuple):
    """What stands for a named object."""

    word: str
    """As the references or labels have it."""
    how: Literal["lemma", "synonym", "broader", "narrower", "alike", "person"]


@dataclass(frozen=True)
class Evidence:
    """What references and labels say of one picture."""

    lemmas: frozenset[str]
    """Of every word that means something."""
    nouns: tuple[str, ...]
    """Nouns and compounds, sorted."""
    people: tuple[str, ...]
    """Those of them that are persons."""
    crowds: frozenset[str]
    """Those of the people who are several: they may stand for more than one person of a caption."""
    tells_of_people: bool
    """Whether persons would be named if there were any: not by labels alone."""


def gather_evidence(references: Sequence[Sentence], labels: Sequence[str], lexicon: Lexicon | None) -> Evidence:
    """Gather what is known of a picture."""
    lemmas, nouns, several = set(), set(), set()
    for sentence in references:
        for place, word in enumerate(sentence.words):
            if word.pos in ("NOUN", "PROPN", "VERB", "ADJ") and word.lemma != UNKNOWN:
                lemmas.add(word.lemma)
                if word.pos in ("NOUN", "PROPN"):
                    names = {word.lemma, find_compound(sentence, place, lexicon)[0]}
                    nouns |= names
                    several |= names if word.tag in ("NNS", "NNPS") or word.lemma in GROUPS | PEOPLE_GROUPS else set()
    for label in labels:
        name = " ".join(label.lower().replace("_", " ").split())
        if name:
            # "hen of the woods" is a hen by its last word before "of", "sea lion" a lion by its last.
            head = name.split(" of ", 1)[0].split()[-1]
            lemmas |= {name, head}
            nouns.add(name)
    people = tuple(sorted(noun for noun in nouns if is_person(noun, lexicon)))
    return Evidence(frozenset(lemmas), tuple(sorted(nouns)), people, frozenset(several & set(people)), bool(references))


def find_counterpart(
    mention: Mention, evidence: Evidence, lexicon: Lexicon | None, spent: frozenset[str] = frozenset()
) -> Counterpart | None:
    """What stands for the object; None where nothing does.

    Args:
        spent: people of the evidence who stand for other persons of the caption.
    """
    for name in (mention.phrase, mention.lemma):
        if name in evidence.lemmas:
            return Counterpart(name, "lemma")
    nouns = evidence.people if mention.person else tuple(noun for noun in evidence.nouns if noun not in evidence.people)
    if lexicon is not None:
        found = _by_meaning(mention, nouns, lexicon)
        if found is not None:
            return found
    for noun in nouns:
        if alike(mention.lemma, noun):
            return Counterpart(noun, "alike")
    if mention.person:
        sex = _sex(mention.phrase, lexicon)
        for person in evidence.people:
            if (person not in spent or person in evidence.crowds) and (not sex or _sex(person, lexicon) in (0, sex)):
                return Counterpart(person, "person")
    return None


def _by_meaning(mention: Mention, nouns: Sequence[str], lexicon: Lexicon) -> Counterpart | None:
    own = first_meanings(mention.phrase, lexicon)
    if mention.loose:
        own = (*own, *first_meanings(mention.lemma, lexicon))
    known = {noun: first_meanings(noun, lexicon) for noun in nouns}
    for noun, others in known.items():
        if not set(own).isdisjoint(others):
            return Counterpart(noun, "synonym")
    for noun, others in known.items():
        if any(not lexicon.above(other).isdisjoint(own) for other in others):
            return Counterpart(noun, "broader")
    for noun, others in known.items():
        if any(other in lexicon.above(number) and lexicon.depth(other) >= NARROW for number in own for other in others):
            return Counterpart(noun, "narrower")
    return None


def _sex(person: str, lexicon: Lexicon | None) -> int:
    """``MALE`` or ``FEMALE`` where the first meaning of a person's noun says so, else 0."""
    numbers = lexicon.nouns(person)[:1] if lexicon is not None else ()
    if lexicon is None or not numbers:
        return 0
    kinds = {*numbers, *lexicon.above(numbers[0])}
    return next((sex for sex in (MALE, FEMALE) if sex in kinds), 0)
