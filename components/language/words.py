"""Frequencies, stems, plurals and articles of English words. Cheap, so not cached on disk.

Replaces the vocabulary of CC §3 (token types that occur at least five times in the English Wikipedia): ``wordfreq`` lists words
with a frequency of at least 1 in 10^8 (Zipf 1.0) in a corpus that includes Wikipedia. A token that it splits ("A319") has the
combined frequency of its parts.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*", re.UNICODE)
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th|s)?$", re.IGNORECASE)


def words_of(text: str) -> list[str]:
    """Return the words of a text as written: runs of letters and digits, an apostrophe inside one kept."""
    return _WORD.findall(text)


@lru_cache(maxsize=65536)
def zipf(word: str) -> float:
    """Return the word's frequency on the Zipf scale (log10 of its count in 10^9 words); 0 for an unknown word.

    Numbers count as frequent: dates and counts are normal in captions.
    """
    if _NUMBER.match(word):
        return 9.0
    # Imported on use: wordfreq loads its lists.
    import wordfreq

    return float(wordfreq.zipf_frequency(word.replace("’", "'"), "en", wordlist="large"))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the word's stem in lower case (Snowball, English)."""
    return str(_stemmer().stemWord(word.lower()))


@lru_cache(maxsize=4096)
def plural(noun: str) -> str:
    """Return the plural of an English noun or noun phrase; plurals are returned unchanged."""
    if noun == "person":
        return "people"
    engine = inflector()
    return noun if engine.singular_noun(noun) else str(engine.plural_noun(noun))


@lru_cache(maxsize=4096)
def article(phrase: str) -> str:
    """Return ``a`` or ``an``, by the sound of the phrase's first word."""
    return str(inflector().a(phrase)).split(" ", 1)[0]


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    # Imported here: only the rules that compare stems need it.
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@cache
def inflector() -> Any:
    """Return inflect's engine without its run-time type checks: plurals, articles, numbers in words.

    inflect compiles each of its methods with typeguard at import: 4 s of CPU per process. Without that, arguments of wrong types
    are not refused; mypy checks the calls.
    """
    # Imported on use: typeguard must be patched before inflect loads.
    import typeguard

    check = typeguard.typechecked
    typeguard.typechecked = lambda method: method  # type: ignore[assignment]
    try:
        # Imported here: slow to load.
        import inflect
    finally:
        typeguard.typechecked = check
    return inflect.engine()
