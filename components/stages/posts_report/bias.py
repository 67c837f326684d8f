"""Which words meet which groups of people: co-occurrence in one description, measured and counted.

Source: #PraCegoVer section 6.5.4 (figures 20 and 21, table 4), which draws the most frequent words. Frequent words meet every
group, so words are ordered by normalised pointwise mutual information (Bouma 2009) over descriptions:
npmi = ln(p(g, w) / (p(g) p(w))) / −ln p(g, w): 1 when they always come together, 0 when by chance, −1 never.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from components.metrics.tokens import tokenize
from components.stages.posts_report.words import DATA, content_words


@dataclass(frozen=True)
class Meeting:
    """A word beside a group."""

    word: str
    together: int
    """Descriptions with both."""
    count: int
    """Descriptions with the word."""
    npmi: float
    """-1..1."""


@dataclass
class Group:
    """A group and the words it meets."""

    name: str
    captions: int = 0
    """Descriptions that name it."""
    told: bool = False
    """Whether there are enough of them to say anything."""
    words: list[Meeting] = field(default_factory=list)


@lru_cache(maxsize=4)
def lists(language: str) -> dict[str, Any] | None:
    """The data file of groups for a language, or None."""
    import yaml

    path = DATA / f"groups.{language}.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None


def pattern(name: str, known: Mapping[str, Any]) -> re.Pattern[str]:
    """What names a group (``women``, ``black women``) in tokens joined by spaces."""
    adjective, _, noun = name.rpartition(" ")
    text = _any(known["nouns"][noun])
    if adjective:
        text += f"(?: {_any(known['links'])})* {_any(known['adjectives'][adjective])}"
    return re.compile(f"(?<!\\S){text}(?!\\S)")


def contrasts(
    captions: Sequence[str], language: str, *, min_group: int, min_together: int, most: int
) -> list[list[Group]] | None:
    """The groups of each contrast with the words they meet more often than chance, highest npmi first; None: no groups listed.

    Args:
        captions: descriptions, each counted once for a word or group, however often it says it.
        language: ISO 639-1.
        min_group: descriptions that name a group, at least, to tell of it.
        min_together: descriptions with the group and the word, at least.
        most: words told for a group.
    """
    known = lists(language)
    if known is None:
        return None
    spaced = [" ".join(tokenize(caption)) for caption in captions]
    words = [set(content_words(caption, language)) for caption in captions]
    counts = Counter(word for each in words for word in each)
    own = {form for part in ("nouns", "adjectives") for forms in known[part].values() for form in forms}
    own |= set(known["links"])
    made: dict[str, Group] = {}
    for name in dict.fromkeys(name for row in known["contrasts"] for name in row):
        names = pattern(name, known)
        inside = [each for text, each in zip(spaced, words, strict=True) if names.search(text)]
        group = made[name] = Group(name, len(inside), len(inside) >= min_group)
        if group.told:
            together = Counter(word for each in inside for word in each if word not in own)
            met = [
                Meeting(word, both, counts[word], npmi(both, len(inside), counts[word], len(captions)))
                for word, both in together.items()
                if both >= min_together
            ]
            met = [each for each in met if each.npmi > 0]
            group.words = sorted(met, key=lambda each: (-each.npmi, -each.together, each.word))[:most]
    return [[made[name] for name in row] for row in known["contrasts"]]


def npmi(both: int, one: int, other: int, every: int) -> float:
    """Normalised pointwise mutual information of two events met ``both`` times among ``every``; 1 when all are both."""
    if both == 0:
        return -1.0
    if both == every:
        return 1.0
    return math.log(both * every / (one * other)) / -math.log(both / every)


def _any(forms: Sequence[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, forms))})"
