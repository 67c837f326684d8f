"""Nouns in captions that name no object themselves: positions, images, groups, times.

"On top of a court" names one object, not two; "a picture of a car" shows a car; "a group of men" are men. Used by the
detection of hallucinated objects. English; the lists, with what they are for, are in ``data/caption_words.yaml``.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from components.core.params import YAML_LOADER

_LISTS = yaml.load((Path(__file__).parent / "data" / "caption_words.yaml").read_text(encoding="utf-8"), YAML_LOADER)
_WORDS = {name: frozenset(words.split()) for name, words in _LISTS.items() if name != "alike"}
POSITIONS, IMAGES, GROUPS, PEOPLE_GROUPS = (_WORDS[name] for name in ("positions", "images", "groups", "people_groups"))
UNSEEN, VISIBLE, PEOPLE = _WORDS["unseen"], _WORDS["visible"], PEOPLE_GROUPS | _WORDS["persons"]
ALIKE = tuple(frozenset(line.split()) for line in _LISTS["alike"])


def alike(first: str, second: str) -> bool:
    """Return whether captions use the two lemmas for the same thing."""
    return any(first in names and second in names for names in ALIKE)
