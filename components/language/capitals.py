"""What a capital says about an English word: whether it begins a sentence, and whether English writes it in small letters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from components.language.dictionary import is_listed
from components.language.wordnet import WordNet
from components.language.words import plural, zipf

ENDINGS = frozenset({".", "!", "?", ":", "|"})
"""Marks after which a capital is no evidence of a name."""


def begins_sentence(words: Sequence[str], position: int) -> bool:
    """Return whether a word is the first of the text or follows an ending mark; other marks and spaces may lie between."""
    while position > 0 and not any(char.isalnum() for char in words[position - 1]):
        if words[position - 1] in ENDINGS:
            return True
        position -= 1
    return position == 0


@lru_cache(maxsize=16384)
def is_common_word(word: str, wordnet: WordNet) -> bool:
    """Return whether a lower-case word is a common noun in lower case, or is listed and no noun."""
    senses = wordnet.senses(word)
    if not senses:
        return is_in_use(word, wordnet)
    lemmas = {lemma for sense in senses if not sense.instance_of for lemma in sense.lemmas}
    if any(lemma == lemma.lower() and word in (lemma, plural(lemma)) for lemma in lemmas):
        return True
    # Listed as another part of speech, while the noun is a name: "may".
    return wordnet.knows_verb(word) and not all(sense.instance_of for sense in senses)


def is_in_use(word: str, wordnet: WordNet) -> bool:
    """Return whether the dictionary lists a lower-case word; two joined words that nobody else joins are a brand: "siteline"."""
    return is_listed(word, wordnet.folder, compounds=zipf(word) > 0)


def is_initialism(word: str) -> bool:
    """Return whether a word has several letters, all of them capitals."""
    return len(word) > 1 and word.isalpha() and word.isupper()
