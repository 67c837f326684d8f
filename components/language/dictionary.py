"""English dictionary look-up: WordNet's four parts of speech, regular inflections, and compounds of two listed words.

Complements the frequency list (``words.zipf``), which includes frequent misspellings and lacks rare words ("capercaillie").
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from components.language.wordnet import VARIABLE, unreadable, wordnet_folder

FILES = ("index.noun", "index.verb", "index.adj", "index.adv")
_ENDINGS = (
    ("s", ""), ("es", ""), ("ies", "y"), ("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"), ("ied", "y"), ("er", ""),
    ("er", "e"), ("ers", ""), ("ers", "e"), ("est", ""), ("est", "e"), ("ly", ""), ("ness", ""), ("able", ""), ("men", "man"),
)  # fmt: skip
_PREFIX = re.compile(r"^(?:re|un|non|pre)(?=[a-z]{6})")
"""Matches a prefix that a word without it may have: "recalibrates"."""
_LONGEST_ENDING = max(len(ending) for ending, _ in _ENDINGS) + 1
"""Maximum characters that an inflection adds: an ending and a doubled letter."""
_SHORTEST = 4
"""Minimum letters of each half of a compound."""


def is_listed(word: str, folder: Path | None = None, *, compounds: bool = True) -> bool:
    """Return whether the dictionary lists a word of letters, as it stands, inflected, or as a compound; case is ignored.

    Args:
        word: the word.
        folder: the dictionary's folder; None: :func:`wordnet_folder`.
        compounds: whether two listed words may be joined.
    """
    return _listed(word.lower(), str(folder or ""), os.environ.get(VARIABLE, ""), compounds)


@lru_cache(maxsize=65536)
def _listed(word: str, folder: str, chosen: str, compounds: bool) -> bool:
    """Return :func:`is_listed`; the dictionary that the environment chooses is part of the cache key."""
    lemmas, longest = _lemmas(folder, chosen)
    if len(word) > 2 * longest + _LONGEST_ENDING:
        return False
    known = _known(word, lemmas)
    if known or not compounds:
        return known
    cuts = range(_SHORTEST, len(word) - _SHORTEST + 1)
    return any(word[:cut] in lemmas and _known(word[cut:], lemmas) for cut in cuts)


def _known(word: str, lemmas: frozenset[str]) -> bool:
    if word in lemmas:
        return True
    bare = _PREFIX.sub("", word)
    if bare != word and _known(bare, lemmas):
        return True
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            base = word[: -len(ending)]
            if base + instead in lemmas or (base[-1] == base[-2:-1] and base[:-1] in lemmas):
                return True
    return False


@lru_cache(maxsize=4)
def _lemmas(folder: str, chosen: str) -> tuple[frozenset[str], int]:
    """Return the listed words of a dictionary and the length of the longest; without a folder, of the one of the environment."""
    place = Path(folder) if folder else wordnet_folder()
    lemmas: set[str] = set()
    try:
        for name in FILES:
            with (place / name).open(encoding="utf-8") as file:
                lemmas.update(line.split(" ", 1)[0] for line in file if not line.startswith("  "))
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(error, place) from None
    return frozenset(lemmas), max(map(len, lemmas), default=0)
