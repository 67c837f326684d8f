"""Hypernyms from the form of a name, by rules about its first and last words; no lists of entities.

``the Tower of London`` is a tower, ``World War II`` a war, ``Mount Rainier`` a mountain, ``Acme Inc.`` a company, a place and
a plural (``Springfield Isotopes``) a team, ``Queen Margaret`` a queen.
"""

from __future__ import annotations

import re

from components.knowledge.gazetteers import place_kind

_TITLES = """
    archbishop cardinal duchess emperor empress king pharaoh pope president prince princess queen saint senator sultan
"""
TITLES = frozenset(_TITLES.split())
"""Titles before a person's name, without those that are given names as well (Duke, Earl)."""
LEADS: dict[str, dict[str, str]] = {
    "LOC": {"mount": "mountain", "mt": "mountain", "mt.": "mountain", "lake": "lake", "river": "river", "cape": "cape",
            "isle": "island", "loch": "lake", "point": "headland", "glacier": "glacier"},
    "FAC": {"fort": "fort", "château": "castle", "palazzo": "palace", "piazza": "square", "plaza": "square"},
    "GPE": {"mount": "mountain", "lake": "lake"},
}  # fmt: skip
"""Type → first word of a name → hypernym."""
_COMPANY = """
    inc incorporated corp corporation ltd limited llc plc gmbh ag holdings industries technologies systems pharmaceuticals foods
    energy software networks resources motors enterprises partners labs solutions ventures bancorp
"""
_PAPER = "times herald tribune gazette chronicle telegraph courier"
_TEAM = "fc afc cf sc united rovers wanderers hotspur albion rangers athletic"
LASTS: dict[str, dict[str, str]] = {
    "ORG": {
        **dict.fromkeys(_COMPANY.split(), "company"),
        **dict.fromkeys(_TEAM.split(), "football team"),
        **dict.fromkeys(_PAPER.split(), "newspaper"), "post": "newspaper", "mail": "newspaper",
        **dict.fromkeys(("airlines", "airways", "airline"), "airline"),
        "records": "record label", "pictures": "film studio", "studios": "film studio", "motors": "car company",
        "awards": "award ceremony", "festival": "festival", "railways": "railway company", "cruises": "cruise line",
        "hotels": "hotel chain", "resorts": "hotel chain", "nations": "international organization", "foundation": "foundation",
    },
    "EVENT": {
        **dict.fromkeys(("cup", "open", "championship", "championships", "masters", "prix", "playoffs"), "tournament"),
        **dict.fromkeys(("olympics", "paralympics", "games"), "sports event"),
        "awards": "award ceremony", "oscars": "award ceremony", "bowl": "football game", "con": "convention",
        "expo": "exhibition", "biennale": "exhibition", "prize": "award ceremony",
    },
    "WORK_OF_ART": {
        **dict.fromkeys(_PAPER.split(), "newspaper"),
    },
    "FAC": {"stadium": "stadium", "gardens": "garden", "centre": "center", "towers": "tower"},
    "LOC": {"falls": "waterfall", "mountains": "mountain range", "alps": "mountain range", "islands": "archipelago",
            "lakes": "lake", "hills": "hills", "springs": "spring"},
}  # fmt: skip
"""Type → last word of a name → hypernym, where WordNet does not give it."""
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
