"""The objects that a caption names: nouns one could point at, with their places in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.metrics.caption_words import PEOPLE, UNSEEN, VISIBLE
from components.metrics.lexicon import EVENT, MATTER, OBJECT, PERSON, PLACE, Lexicon
from components.metrics.noun_phrases import object_positions
from components.metrics.parses import Sentence

FIRST = 2
"""Meanings of a noun that are looked at, the most frequent first: rarer ones make everything everything."""

LOOKED_AT = 4
"""Meanings among which one must be a thing for a noun to be an object: "kite" is a cheque twice before it flies."""


@dataclass(frozen=True)
class Mention:
    """An object as a text names it."""

    lemma: str
    """The noun's lemma; of a compound its last word's."""
    phrase: str
    """With the noun before it where the dictionary knows both as one ("teddy bear"); else the lemma."""
    start: int
    end: int
    """Places of its first character and after its last."""
    person: bool
    loose: bool = False
    """Whether the phrase begins with an adjective: "black cat" is a fisher to the dictionary, and mostly a cat in captions."""


def find_mentions(sentence: Sentence, lexicon: Lexicon | None) -> list[Mention]:
    """The objects of a caption in order: its scene graph's, less those that nobody can see (times, events, what is abstract).

    Without a dictionary only the list of ``caption_words`` tells those.
    """
    found = []
    for place in object_positions(sentence):
        word = sentence.words[place]
        phrase, first = find_compound(sentence, place, lexicon)
        if word.lemma not in UNSEEN and is_physical(phrase, lexicon):
            loose = sentence.words[first].pos == "ADJ"
            found.append(Mention(word.lemma, phrase, sentence.words[first].start, word.end, is_person(phrase, lexicon), loose))
    return found


def find_compound(sentence: Sentence, place: int, lexicon: Lexicon | None) -> tuple[str, int]:
    """The longest compound of the dictionary, of three words at most, that ends in the noun at ``place``, and where it begins."""
    words = sentence.words
    if lexicon is not None:
        for first in (place - 2, place - 1):
            before = words[first:place] if first >= 0 else ()
            if before and all(word.head <= place and word.pos in ("NOUN", "PROPN", "ADJ") for word in before):
                phrase = " ".join([*(word.text.lower() for word in before), words[place].lemma])
                if lexicon.nouns(phrase):
                    return phrase, first
    return words[place].lemma, place


def first_meanings(phrase: str, lexicon: Lexicon) -> Sequence[int]:
    """The most frequent meanings of a noun."""
    return lexicon.nouns(phrase)[:FIRST]


def is_person(phrase: str, lexicon: Lexicon | None) -> bool:
    """Whether a noun means a person or people by its first meaning."""
    if phrase in PEOPLE:
        return True
    return lexicon is not None and any(PERSON in {number, *lexicon.above(number)} for number in lexicon.nouns(phrase)[:1])


def is_physical(phrase: str, lexicon: Lexicon | None) -> bool:
    """Whether one of a noun's first meanings is a thing; what the dictionary does not know counts as one."""
    if lexicon is None or phrase in PEOPLE:
        return True
    if phrase in VISIBLE:
        return True
    numbers = lexicon.nouns(phrase)[:LOOKED_AT]
    if any(EVENT in lexicon.above(number) for number in numbers[:1]):
        return False  # "a kiss", though the second meaning is a sweet
    return not numbers or any(not {OBJECT, MATTER, PLACE}.isdisjoint(lexicon.above(number)) for number in numbers)
