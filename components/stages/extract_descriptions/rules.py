"""Lists for finding descriptions, read once a process (``data/descriptions.<language>.yaml``)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import yaml

from components.core.hashtags import fold
from components.stages.extract_descriptions import LISTS
from components.stages.extract_descriptions.words import Phrases


class Rules(NamedTuple):
    """One language's lists, folded for lookup; the data file explains each."""

    language: str
    version: int
    tag: Phrases
    foreign_tag: Phrases
    lead_in: Phrases
    end_opening: frozenset[str]
    end_linking: frozenset[str]
    end: Phrases
    end_whole: Phrases
    """End marks that must be a whole sentence."""
    end_guard: frozenset[str]
    image_label: frozenset[str]
    ordinal: frozenset[str]
    numbers: frozenset[str]
    cues: dict[str, frozenset[str]]
    """Words of each kind of segment, lower case with accents."""
    openers: frozenset[str]
    """Words that, with a capital, begin an appeal or a source inside a sentence; lower case with accents."""
    abbreviations: frozenset[str]
    weights: dict[str, float]
    """Log odds by feature (:mod:`components.stages.extract_descriptions.describing`)."""
    stranded: frozenset[str]
    """Lower case with accents: "Pará" and "dá" are no "para" and "da"."""
    lettered: frozenset[str]
    foreign_section: Phrases
    foreign_bracketed: Phrases
    own_section: Phrases
    foreign_flags: tuple[str, ...]
    own_flags: tuple[str, ...]
    other_languages: tuple[str, ...]
    own_words: frozenset[str]
    """Lower case with accents: "à" is Portuguese, "a" is ambiguous."""
    other_words: frozenset[str]
    """Words of the other languages, lower case with accents."""
    own_letters: re.Pattern[str]
    other_letters: re.Pattern[str]
    """Patterns common in words of one side and rare in the other."""
    governing: frozenset[str]
    dangling: frozenset[str]
    naming: frozenset[str]
    continuing: frozenset[str]
    between: frozenset[str]
    emoticons: tuple[str, ...]


def read_weights(file: Path) -> dict[str, float]:
    """Return the log odds by feature; those of hashed words stand in one string: "#1a:0.5 #2b:-1"."""
    content = json.loads(file.read_text(encoding="utf-8"))
    hashed = (item.split(":") for item in content["words"].split())
    return content["weights"] | {name: float(weight) for name, weight in hashed}


@lru_cache(maxsize=8)
def load_rules(language: str) -> Rules:
    """Return the lists of one language (ISO 639-1), which the settings have checked."""
    path = LISTS / f"descriptions.{language}.yaml"
    lists: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # BaseLoader keeps "no" a string

    def phrases(name: str) -> Phrases:
        return Phrases(str(item) for item in lists[name])

    def words(name: str) -> frozenset[str]:
        return frozenset(fold(str(item)) for item in lists[name])

    def plain(name: str) -> tuple[str, ...]:
        return tuple(sorted((str(item) for item in lists[name]), key=lambda item: (-len(item), item)))

    def pattern(name: str) -> re.Pattern[str]:
        return re.compile("|".join(lists[name]))

    def ends(objects: list[str]) -> list[str]:
        parts = product(lists["end_opening"], ["", *lists["end_linking"]], objects)
        return [" ".join(filter(None, part)) for part in parts]

    cues = {name: frozenset(listed) for name, listed in lists["cues"].items()}
    own: dict[str, Any] = {
        "lead_in": Phrases([*lists["lead_in"], *lists["tag"]]),
        "cues": cues,
        "openers": frozenset((*lists["cues"]["asks"], *lists["cues"]["cites"])),
        "abbreviations": frozenset(lists["abbreviations"]),
        "weights": read_weights(LISTS / f"segments.{language}.json"),
        "language": language,
        "version": int(lists["version"]),
        "end": Phrases([*ends([*lists["end_object"], *lists["tag"]]), *lists["end_other"]]),
        "end_whole": Phrases([*ends(lists["end_object_alone"]), *lists["end_alone"]]),
        "other_languages": tuple(lists["other_languages"]),
        "own_words": frozenset(plain("own_words")),
        "stranded": frozenset(plain("stranded")),
        "other_words": frozenset(word for listed in lists["other_words"].values() for word in listed),
    }
    readers: dict[Any, Callable[[str], Any]] = {
        Phrases: phrases,
        frozenset[str]: words,
        tuple[str, ...]: plain,
        re.Pattern[str]: pattern,
    }
    kinds = {name: kind for name, kind in get_type_hints(Rules).items() if name not in own}
    return Rules(**own, **{name: readers[kind](name) for name, kind in kinds.items()})
