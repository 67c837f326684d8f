"""Words that co-occur with groups of people in a description.

Source: PCV §6.5.4 (figures 20 and 21, table 4), which shows the most frequent words. Frequent words co-occur with every group, so
words are ordered by normalised pointwise mutual information (Bouma 2009) over descriptions:
npmi = ln(p(g, w) / (p(g) p(w))) / −ln p(g, w): 1 if group and word always co-occur, 0 if by chance, −1 if never.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import yaml

from components.metrics.tokens import tokenize
from components.stages.posts_report.words import DATA, content_words


@dataclass(frozen=True)
class Cooccurrence:
    """A word that co-occurs with a group."""

    word: str
    together: int
    """Descriptions with both."""
    count: int
    """Descriptions with the word."""
    npmi: float
    """-1..1."""


@dataclass
class Group:
    """A group of people and the words that co-occur with it."""

    name: str
    captions: int = 0
    """Descriptions that name it."""
    reported: bool = False
    """Whether enough descriptions name it to report its words."""
    words: list[Cooccurrence] = field(default_factory=list)


@lru_cache(maxsize=4)
def load_groups(language: str) -> dict[str, Any] | None:
    """Return the data file of groups for a language, or None."""
    path = DATA / f"groups.{language}.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None


def group_pattern(name: str, known: Mapping[str, Any]) -> re.Pattern[str]:
    """Return a pattern for a group's names (``women``, ``black women``) in tokens joined by spaces."""
    adjective, _, noun = name.rpartition(" ")
    text = _any(known["nouns"][noun])
    if adjective:
        text += f"(?: {_any(known['links'])})* {_any(known['adjectives'][adjective])}"
    return re.compile(f"(?<!\\S){text}(?!\\S)")


def measure_contrasts(
    captions: Sequence[str], language: str, *, min_group: int, min_together: int, most: int
) -> list[list[Group]] | None:
    """Return the groups of each contrast with their words of npmi above 0, highest first; None without a list of groups.

    Args:
        captions: descriptions; each counts once per word or group.
        language: ISO 639-1.
        min_group: minimal number of descriptions that name a group, to report it.
        min_together: minimal number of descriptions with both group and word.
        most: maximal number of words per group.
    """
    known = load_groups(language)
    if known is None:
        return None
    spaced = [" ".join(tokenize(caption)) for caption in captions]
    words = [set(content_words(caption, language)) for caption in captions]
    counts = Counter(word for description in words for word in description)
    group_words = {form for part in ("nouns", "adjectives") for forms in known[part].values() for form in forms}
    group_words |= set(known["links"])
    groups: dict[str, Group] = {}
    for name in dict.fromkeys(name for row in known["contrasts"] for name in row):
        name_pattern = group_pattern(name, known)
        inside = [description for text, description in zip(spaced, words, strict=True) if name_pattern.search(text)]
        group = groups[name] = Group(name, len(inside), len(inside) >= min_group)
        if group.reported:
            together = Counter(word for description in inside for word in description if word not in group_words)
            candidates = [
                Cooccurrence(word, both, counts[word], npmi(both, len(inside), counts[word], len(captions)))
                for word, both in together.items()
                if both >= min_together
            ]
            positive = [word for word in candidates if word.npmi > 0]
            group.words = sorted(positive, key=lambda word: (-word.npmi, -word.together, word.word))[:most]
    return [[groups[name] for name in row] for row in known["contrasts"]]


def npmi(both: int, one: int, other: int, total: int) -> float:
    """Return the npmi of two events that co-occur ``both`` times among ``total``; 1 if they always do."""
    if both == 0:
        return -1.0
    if both == total:
        return 1.0
    return math.log(both * total / (one * other)) / -math.log(both / total)


def _any(forms: Sequence[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, forms))})"
