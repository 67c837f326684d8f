"""Hypernyms from the form of a name, by rules about its first and last words; no lists of entities.

``the Tower of London`` is a tower, ``World War II`` a war, ``Mount Rainier`` a mountain, ``Acme Inc.`` a company, a place and
a plural (``Springfield Isotopes``) a team, ``Queen Margaret`` a queen.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from components.core.params import read_yaml
from components.knowledge.gazetteers import place_kind

_LISTS: dict[str, Any] = read_yaml(Path(__file__).parent / "data" / "names.yaml")
TITLES = frozenset(_LISTS["titles"].split())
"""Titles before a person's name, without those that are given names as well (Duke, Earl)."""
LEADS, LASTS = (
    {kind: {word: noun for noun, words in nouns.items() for word in words.split()} for kind, nouns in _LISTS[place].items()}
    for place in ("leads", "lasts")
)
"""Type → first word of a name → hypernym; type → last word → hypernym, where WordNet does not give it."""
_NUMBER = re.compile(r"(?:[IVXLC]+|\d[\d/'’-]*)\.?$")


def core_words(name: str) -> list[str]:
    """Return the name's words without a final number ("World War II", "Expo 2020") or genitive mark."""
    words = [word.strip(".,\"'“”’()") or word for word in name.removesuffix("'s").removesuffix("’s").split()]
    while len(words) > 1 and _NUMBER.match(words[-1]):
        words = words[:-1]
    return words


def kind_by_form(name: str, kind: str) -> str:
    """Return the hypernym by the form of a name of that type, or ""."""
    words = core_words(name)
    if len(words) < 2:
        return ""
    first, last = words[0].lower(), words[-1].lower()
    if kind == "PERSON":
        return first if first in TITLES else ""
    if first in LEADS.get(kind, {}):
        return LEADS[kind][first]
    if last in LASTS.get(kind, {}):
        return LASTS[kind][last]
    return "sports team" if kind == "ORG" and _is_team(words) else ""


def _is_team(words: list[str]) -> bool:
    """Return whether a name is a city's or state's name before one capitalised plural ("Springfield Isotopes")."""
    last = words[-1]
    if not last[:1].isupper() or not last.lower().endswith(("s", "sox")) or last.lower().endswith(("ss", "us", "is")):
        return False
    for count in range(1, min(len(words), 4)):
        several = any(word.lower().endswith("s") for word in words[count:-1])  # a shop in Massy: "Massy Stores Westmoorings"
        if not several and place_kind(" ".join(words[:count])) in ("city", "state"):
            return True
    return False
