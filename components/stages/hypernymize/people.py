"""Evidence that words name people: a full name in small letters, a family ("the Smiths"), a double given name ("Jean-Luc").

Many names are words as well ("Rose", "May", "Mark"), so each needs two lists to agree: names, and what the dictionary lacks.
"""

from __future__ import annotations

from components.knowledge.cascade import Knowledge
from components.knowledge.gazetteers import brand_kind
from components.language.capitals import is_common_word
from components.language.dictionary import is_listed
from components.language.person_names import is_given_name, is_surname
from components.language.words import zipf
from components.stages.hypernymize.sentence import Word

LEAST = 4
"""Letters of a surname that is evidence by itself; shorter ones are abbreviations as well."""
FREQUENT = 5.0
"""Frequency (Zipf) of words that are no evidence of a surname: "during", "shown"."""


def is_full_name(first: Word, second: Word, knowledge: Knowledge) -> bool:
    """Return whether two words are a given name in small letters and a surname, of which at most one is a common word."""
    if first.pos not in ("NOUN", "PROPN") or not (first.text.islower() and is_given_name(first.text)):
        return False
    if is_rare_surname(second.text, knowledge):
        return True
    common = any(is_common_word(word.text.lower(), knowledge.wordnet) for word in (first, second))
    return second.pos in ("NOUN", "PROPN") and is_surname(second.text) and not common


def is_rare_surname(text: str, knowledge: Knowledge) -> bool:
    """Return whether a word is a surname that the dictionary does not list: "gonzalez"."""
    rare = len(text) >= LEAST and zipf(text.lower()) < FREQUENT
    return rare and is_surname(text) and not is_listed(text, knowledge.wordnet.folder)


def is_family(word: Word, knowledge: Knowledge) -> bool:
    """Return whether a capitalised plural is that of a surname, and not of a class of things: "Smiths", "Johnsons"."""
    single = word.text.lower().removesuffix("s")
    plural = word.tag == "NNPS" and word.text[:1].isupper() and word.text[1:].islower()
    return plural and is_surname(single) and (knowledge.is_role(single) or not knowledge.is_noun(single))


def is_double_name(words: list[str]) -> bool:
    """Return whether words and a hyphen between them are a double given name: "Jean-Luc"."""
    if len(words) != 3 or words[1] not in ("-", "‑") or brand_kind("".join(words)):
        return False
    return is_given_name(words[0]) and (is_given_name(words[2]) or is_surname(words[2]))
