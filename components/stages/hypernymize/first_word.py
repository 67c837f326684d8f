"""Whether the capital of a text's first word marks a name, decided by a dictionary and a second parse without that capital.

English capitalises the first word of a text, so this capital is no evidence of a name. A parser takes it for one ("House under
the cliffs" is labelled as an organisation). Such a text is parsed again with a lower-case first letter. The caller makes that
parse (``second_text``), so it comes from the same cache as the first.
"""

from __future__ import annotations

from components.knowledge.cascade import Knowledge
from components.knowledge.gazetteers import brand_kind, is_given_name, place_kind
from components.knowledge.kinds import KINDS
from components.language.parser import Parse
from components.stages.hypernymize.common_nouns import is_common_word

NAMES = frozenset({*KINDS, "NORP"})
"""Entity types of names."""


def second_text(text: str, parse: Parse) -> str:
    """Return the text to parse again: with a lower-case first letter; "" where the first word is not taken for a name."""
    first = _first_word(parse)
    if first is None or not _taken_for_name(parse, first):
        return ""
    at = text.find(parse["text"][first])
    return text[:at] + text[at].lower() + text[at + 1 :] if at >= 0 else ""


def choose_parse(parse: Parse, second: Parse | None, knowledge: Knowledge) -> Parse:
    """Return the second parse where the first word is a common word, else the first parse.

    A word of the dictionary is common unless the name goes on with another capital ("Rose Byrne"). A word that is listed as a
    name too, or that the dictionary has only inflected or compounded, is common if the second parse has no entity there; its tag
    is no evidence, since taggers call many lower-case words proper nouns.
    """
    first = _first_word(parse)
    if first is None or second is None or [word.lower() for word in parse["text"]] != [word.lower() for word in second["text"]]:
        return parse
    if not _taken_for_name(parse, first) or _goes_on(parse, first):
        return parse
    word = parse["text"][first].lower()
    listed = place_kind(word) or is_given_name(word) or brand_kind(word)
    doubted = listed or _kind_at(parse, first) == "NORP" or not knowledge.is_noun(word)
    # An apostrophe is often missing: "womens".
    if not is_common_word(word, knowledge) and not (word.endswith("s") and is_common_word(word[:-1], knowledge)):
        return parse
    return parse if doubted and _kind_at(second, first) in NAMES else second


def _first_word(parse: Parse) -> int | None:
    """Return the position of the first word if it has a capital and lower-case letters; only marks may precede it."""
    for position, word in enumerate(parse["text"]):
        if any(char.isalnum() for char in word):
            return position if word[:1].isupper() and word[1:] == word[1:].lower() else None
    return None


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
