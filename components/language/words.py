"""Words without context: whether English knows one, how it is stemmed, its plural. Cheap, so nothing is cached on disk.

Stands in for the paper's vocabulary of one billion token types found at least five times in the English Wikipedia
(CC, section 3): ``wordfreq`` lists a word when its frequency is at least 1 in 10^8 (Zipf 1.0) in a corpus that
includes Wikipedia. A token it takes apart (a letter with digits, "A319") gets the combined frequency of its parts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from components.language.inflector import inflector

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*", re.UNICODE)
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th|s)?$", re.IGNORECASE)


def words_of(text: str) -> list[str]:
    """Return the words of a text as written: runs of letters and digits, an apostrophe inside one kept."""
    return _WORD.findall(text)


@lru_cache(maxsize=65536)
def zipf(word: str) -> float:
    """Return the word's frequency on the Zipf scale (log10 of its count in 10^9 words); 0 for a word English does not know.

    Numbers are known: a date or a count is no reason to doubt a text.
    """
    if _NUMBER.match(word):
        return 9.0
    import wordfreq

    return float(wordfreq.zipf_frequency(word.replace("’", "'"), "en", wordlist="large"))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the word's stem in lower case (Snowball, English)."""
    return str(_stemmer().stemWord(word.lower()))


@lru_cache(maxsize=4096)
def plural(noun: str) -> str:
    """Return the plural of an English noun or noun phrase; a noun that is plural already comes back as it is."""
    if noun == "person":
        return "people"
    engine = inflector()
    return noun if engine.singular_noun(noun) else str(engine.plural_noun(noun))


@lru_cache(maxsize=4096)
def article(phrase: str) -> str:
    """``a`` or ``an``, as the sound of the phrase's first word asks."""
    return str(inflector().a(phrase)).split(" ", 1)[0]


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")
