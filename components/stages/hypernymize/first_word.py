"""Whether the capital of a sentence's first word marks a name, decided by a dictionary and a second parse without that capital.

English capitalises the first word of a sentence, so this capital is no evidence of a name. A parser takes it for one ("House
under the cliffs" is labelled as an organisation). Such a text is parsed again with a lower-case first letter. The caller makes
that parse (``second_text``), so it comes from the same cache as the first.
"""

from __future__ import annotations

from components.knowledge.cascade import Knowledge
from components.knowledge.gazetteers import brand_kind, place_kind
from components.knowledge.kinds import KINDS
from components.language.capitals import begins_sentence, is_common_word
from components.language.parser import Parse
from components.language.person_names import is_given_name
from components.language.words import plural

NAMES = frozenset({*KINDS, "NORP"})
"""Entity types of names."""


def second_text(text: str, parse: Parse, knowledge: Knowledge) -> str:
    """Return the text to parse again: without the capitals of first words that are common but taken for names; "" for none."""
    letters, at, changed = list(text), 0, False
    for position, word in enumerate(parse["text"]):
        at = text.find(word, at)
        if at < 0:
            break
        if _misleads(parse, position, knowledge):
            letters[at] = letters[at].lower()
            changed = True
        at += len(word)
    return "".join(letters) if changed else ""


def choose_parse(parse: Parse, second: Parse | None, knowledge: Knowledge) -> Parse:
    """Return the second parse, or the first where the second has other words or finds a name in a word that may be one.

    A word that is listed as a name too, or that the dictionary has only inflected or compounded, is common if the second parse
    has no entity there; its tag is no evidence, since taggers call many lower-case words proper nouns.
    """
    if second is None or [word.lower() for word in parse["text"]] != [word.lower() for word in second["text"]]:
        return parse
    changed = [position for position, word in enumerate(parse["text"]) if word != second["text"][position]]
    named = any(_doubted(parse, position, knowledge) and _kind_at(second, position) in NAMES for position in changed)
    return parse if named else second


def _misleads(parse: Parse, position: int, knowledge: Knowledge) -> bool:
    """Return whether a word is taken for a name, has a capital because it is a first word, and is a common word.

    A word of the dictionary is common unless the name goes on with another capital ("Rose Byrne").
    """
    word = parse["text"][position]
    if not (word[:1].isupper() and word[1:] == word[1:].lower() and begins_sentence(parse["text"], position)):
        return False
    if not _taken_for_name(parse, position) or _goes_on(parse, position):
        return False
    if is_common_word(word.lower(), knowledge.wordnet):
        return True
    base = word.lower().removesuffix("s")  # an apostrophe is often missing: "womens"
    return base != word.lower() and plural(base) == base and is_common_word(base, knowledge.wordnet)


def _doubted(parse: Parse, position: int, knowledge: Knowledge) -> bool:
    word = parse["text"][position].lower()
    listed = place_kind(word) or is_given_name(word) or brand_kind(word)
    return bool(listed) or _kind_at(parse, position) == "NORP" or not knowledge.is_noun(word)


def _kind_at(parse: Parse, position: int) -> str:
    """Return the label of the entity that covers a position, or ""."""
    return next((label for start, end, label in parse["entities"] if start <= position < end), "")


def _taken_for_name(parse: Parse, position: int) -> bool:
    """Return whether a word is tagged as a proper noun or lies in a named entity."""
    return _kind_at(parse, position) in NAMES or parse["pos"][position] == "PROPN"


def _goes_on(parse: Parse, first: int) -> bool:
    """Return whether the next word continues a name: capitalised and nowhere in lower case."""
    following = parse["text"][first + 1] if first + 1 < len(parse["text"]) else ""
    if not following[:1].isupper() or following == "I" or following.lower() in parse["text"]:
        return False
    return _kind_at(parse, first + 1) != "NORP"
