"""Clusters as one looks at them: how many of which size, which pictures to show of them, and what is a duplicate of what.

Source: #PraCegoVer section 5.1 (figure 9: sizes after removing duplicates) and 5.2 (figure 10: a sample drawn before that,
duplicates in frames of equal colour and line).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from components.core.seeded_rng import seeded_rng
from components.stages.posts_report.words import content_words

BANDS = ((1, 10), (11, 100), (101, 1000), (1001, 10_000), (10_001, 20_000), (20_001, None))
"""Posts of a cluster, from and to: the paper's ranges."""
OUTLIER = -1
MOST_OF_ONE = 4
"""Pictures shown of one component of duplicates: a sheet is to show that there are some, not all of them."""
_GROUP, _SAME = re.compile(r"\bgroup (\w+)"), re.compile(r"\bsame as (\w+)")


@dataclass(frozen=True)
class Shown:
    """A picture on a sheet."""

    key: str
    duplicates: str
    """A letter that duplicates share; empty for a picture that has none on this sheet."""
    dropped: bool
    """Whether the de-duplication dropped the post."""


@dataclass(frozen=True)
class Sheet:
    """Some pictures of one cluster."""

    cluster: int
    posts: int
    words: list[str]
    """What is said in this cluster more than elsewhere."""
    shown: list[Shown] = field(default_factory=list)


def sizes(clusters: Iterable[int]) -> dict[int, int]:
    """cluster → posts, outliers among them."""
    return dict(sorted(Counter(clusters).items()))


def bands(counted: Mapping[int, int]) -> list[int]:
    """Clusters in each of :data:`BANDS`; the outliers count as one, as in the paper."""
    return [sum(1 for n in counted.values() if low <= n and (high is None or n <= high)) for low, high in BANDS]


def duplicates(ledger: Iterable[Mapping[str, Any]]) -> tuple[dict[str, str], set[str]]:
    """key → the component of duplicates it is in (named by its smallest key), and the keys that were dropped as such.

    Read from the ledger of the de-duplication alone: "group …" in its details, "same as …" in its values. A post that is
    like no other is in no component.
    """
    parent: dict[str, str] = {}

    def root(key: str) -> str:
        parent.setdefault(key, key)
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    keys, gone = [], set()
    for row in ledger:
        key = row["key"]
        keys.append(key)
        linked = [*_GROUP.findall(row["detail"]), *_SAME.findall(row["value"]), *_SAME.findall(row["detail"])]
        for other in linked:
            one, two = root(key), root(other)
            parent[max(one, two)] = min(one, two)
        if row["verdict"] == "dropped" and linked:
            gone.add(key)
    members = Counter(root(key) for key in keys)
    return {key: root(key) for key in keys if members[root(key)] > 1}, gone


def choose(
    cluster_of: Mapping[str, int],
    captions: Mapping[str, str],
    component_of: Mapping[str, str],
    gone: set[str],
    *,
    sheets: int,
    sheet: int,
    seed: int,
    language: str,
) -> list[Sheet]:
    """Sheets of the largest clusters, and one of the outliers if there are any, each a seeded sample."""
    counted = sizes(cluster_of.values())
    order = sorted((c for c in counted if c != OUTLIER), key=lambda c: (-counted[c], c))[:sheets]
    if OUTLIER in counted and sheets:
        order.append(OUTLIER)
    words = {key: set(content_words(captions.get(key, ""), language)) for key in cluster_of}
    overall = Counter(word for each in words.values() for word in each)
    made = []
    for cluster in order:
        members = sorted(key for key, at in cluster_of.items() if at == cluster)
        told = _distinct([words[key] for key in members], overall, len(words))
        made.append(Sheet(cluster, len(members), told, _sample(members, component_of, gone, sheet, seed)))
    return made


def _distinct(inside: Sequence[set[str]], overall: Counter[str], every: int, most: int = 5) -> list[str]:
    """The words whose share among these descriptions is furthest above their share among all."""
    counts = Counter(word for words in inside for word in words)
    above = {word: n / len(inside) - overall[word] / every for word, n in counts.items() if n > 1}
    return [word for word in sorted(above, key=lambda word: (-above[word], word)) if above[word] > 0][:most]


def _sample(members: Sequence[str], component_of: Mapping[str, str], gone: set[str], sheet: int, seed: int) -> list[Shown]:
    units: dict[str, list[str]] = {}
    for key in members:
        units.setdefault(component_of.get(key, key), []).append(key)
    drawn = sorted(units, key=lambda unit: seeded_rng(seed, unit, "sheet").random())
    # Duplicates first, up to half of the sheet, so that there are some to see; then what is alone; in the order drawn.
    several = [unit for unit in drawn if len(units[unit]) > 1]
    chosen: list[str] = []
    room = sheet // 2
    for unit in several:
        if (size := min(len(units[unit]), MOST_OF_ONE)) <= room:
            chosen.append(unit)
            room -= size
    left = sheet - (sheet // 2 - room)
    singles = [unit for unit in drawn if unit not in chosen]
    chosen += singles[:left]
    shown: list[Shown] = []
    letters: dict[str, str] = {}
    for unit in sorted(chosen, key=drawn.index):
        keys = units[unit][: MOST_OF_ONE if unit not in singles else 1]
        if len(keys) > 1:
            letters[unit] = _letter(len(letters))
        shown += [Shown(key, letters.get(unit, ""), key in gone) for key in keys]
    return shown


def _letter(number: int) -> str:
    """A … Z, AA, AB …"""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name
