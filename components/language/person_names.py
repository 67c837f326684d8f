"""Given names and surnames of people, of the United States census of 1990 (package ``names``). Lookups ignore case.

A match is weak evidence, since many names are words as well ("Rose").
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path

MIN_SHARE = 0.001
"""Minimum share of a given name among a sex, in per cent."""


@lru_cache(maxsize=1)
def given_names() -> frozenset[str]:
    """Return the given names in lower case."""
    # Imported on use: the package reads its data on import.
    import names

    given = set()
    for kind in ("first:male", "first:female"):
        for line in Path(names.FILES[kind]).read_text(encoding="ascii").splitlines():
            parts = line.split()
            if float(parts[1]) >= MIN_SHARE:
                given.add(parts[0].lower())
    return frozenset(given)


@lru_cache(maxsize=16384)
def unaccented(word: str) -> str:
    """Return a word without accents: the lists have none."""
    return "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))


def is_given_name(word: str) -> bool:
    """Return whether a word is a given name."""
    return unaccented(word.lower()) in given_names()


@lru_cache(maxsize=1)
def _surnames() -> frozenset[str]:
    import names  # on use, as above

    lines = Path(names.FILES["last"]).read_text(encoding="ascii").splitlines()
    return frozenset(line.split()[0].lower() for line in lines)


def is_surname(word: str) -> bool:
    """Return whether a word is a surname of the same census."""
    return unaccented(word.lower()) in _surnames()
