"""What is lost when no source of knowledge knows people.

CC §3 asks the Google Knowledge Graph, which knows people: "Harrison Ford" → "actor". The embedded source knows few, so that a
dataset with it alone runs without a network, a key or an index, and most people become "person". This module says so in one line
and counts them in the reasons of the rewriting's steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

PEOPLE_SOURCES = ("wikidata_index", "google")
"""Sources that know people, by name in ``hypernymize.knowledge``."""
_PERSON = re.compile(r"\(PERSON\) is an? ([^,;]+), says ([^;]+)")


def missing_people(order: Sequence[str]) -> str:
    """Return one line about what is lost with these sources of knowledge; "" if one of them knows people."""
    if any(name in PEOPLE_SOURCES for name in order):
        return ""
    return (
        f"no source knows people (knowledge: [{', '.join(order)}]): their names become 'person', not 'actor' or 'singer'; "
        "add wikidata_index or google (docs/providers.md#knowledge)"
    )


def count_people(steps: Iterable[Sequence[Mapping[str, Any]]]) -> tuple[int, int]:
    """Count the people whose names were replaced, and those of them that no source knows.

    Args:
        steps: the column ``steps`` of captions; ``hypernymize`` writes the reasons.

    Returns:
        The people, and how many of them became "person" by their type alone.
    """
    answers = [
        answer
        for caption in steps
        for step in caption
        if step["step"] == "hypernyms"
        for answer in _PERSON.findall(step["reason"])
    ]
    return len(answers), answers.count(("person", "type"))
