"""Visible objects named by a caption, with their positions in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.metrics.caption_words import PEOPLE, UNSEEN, VISIBLE
from components.metrics.lexicon import EVENT, MATTER, OBJECT, PERSON, PLACE, Lexicon
from components.metrics.noun_phrases import object_positions
from components.metrics.parses import Sentence

FIRST = 2
"""Number of a noun's most frequent meanings that are compared; rarer ones would match almost anything."""

PHYSICAL_MEANINGS = 4
"""Number of most frequent meanings of which one must be physical: "kite" is a cheque in its first two."""


@dataclass(frozen=True)
class Mention:
    """An object as named by a text."""

    lemma: str
    """The noun's lemma; of a compound its last word's."""
    phrase: str
    """With the preceding noun if the dictionary has both as one ("teddy bear"); otherwise the lemma."""
    start: int
    end: int
    """Index of its first character, and after its last."""
    person: bool
    loose: bool = False
    """Whether the phrase starts with an adjective: "black cat" is a fisher in the dictionary, but usually a cat in captions."""


def find_mentions(sentence: Sentence, lexicon: Lexicon | None) -> list[Mention]:
    """Return a caption's objects in order: those of its scene graph without invisible ones (times, events, abstract nouns).

    Without a dictionary only the list of ``caption_words`` identifies invisible ones.
    """
    found_mentions = []
    for index in object_positions(sentence):
        word = sentence.words[index]
        phrase, first = find_compound(sentence, index, lexicon)
        if word.lemma not in UNSEEN and is_physical(phrase, lexicon):
            loose = sentence.words[first].pos == "ADJ"
            found_mentions.append(
                Mention(word.lemma, phrase, sentence.words[first].start, word.end, is_person(phrase, lexicon), loose)
            )
    return found_mentions


def find_compound(sentence: Sentence, position: int, lexicon: Lexicon | None) -> tuple[str, int]:
    """Return the longest compound (at most three words) in the dictionary that ends at ``position``, and its first index."""
    words = sentence.words
    if lexicon is not None:
        for first in (position - 2, position - 1):
            before = words[first:position] if first >= 0 else ()
            if before and all(word.head <= position and word.pos in ("NOUN", "PROPN", "ADJ") for word in before):
                phrase = " ".join([*(word.text.lower() for word in before), words[position].lemma])
                if lexicon.nouns(phrase):
                    return phrase, first
    return words[position].lemma, position


def first_meanings(phrase: str, lexicon: Lexicon) -> Sequence[int]:
    """Return the most frequent meanings of a noun."""
    return lexicon.nouns(phrase)[:FIRST]


def is_person(phrase: str, lexicon: Lexicon | None) -> bool:
    """Return whether a noun means a person or people by its first meaning."""
    if phrase in PEOPLE:
        return True
    return lexicon is not None and any(PERSON in {number, *lexicon.above(number)} for number in lexicon.nouns(phrase)[:1])


def is_physical(phrase: str, lexicon: Lexicon | None) -> bool:
    """Return whether one of a noun's first meanings is physical; unknown nouns count as physical."""
    if lexicon is None or phrase in PEOPLE:
        return True
    if phrase in VISIBLE:
        return True
    numbers = lexicon.nouns(phrase)[:PHYSICAL_MEANINGS]
    if any(EVENT in lexicon.above(number) for number in numbers[:1]):
        return False  # "a kiss", whose second meaning is a sweet
    return not numbers or any(not {OBJECT, MATTER, PLACE}.isdisjoint(lexicon.above(number)) for number in numbers)
