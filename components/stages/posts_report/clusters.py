"""Clusters of images: their sizes, contact sheets with a sample of each, and components of duplicates.

Sources: PCV §5.1 (figure 9: sizes after removing duplicates) and §5.2 (figure 10: a sample from before that, with duplicates in
frames of equal colour and line).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scipy.cluster.hierarchy import DisjointSet

from components.core.seeded_rng import seeded_rng
from components.stages.posts_report.words import content_words, count_in_bands

BANDS = ((1, 10), (11, 100), (101, 1000), (1001, 10_000), (10_001, 20_000), (20_001, None))
"""The paper's ranges of cluster sizes in posts, both ends included."""
OUTLIER = -1
MOST_OF_ONE = 4
"""Maximal number of images of one component of duplicates on a sheet."""
_GROUP, _SAME = re.compile(r"\bgroup (\w+)"), re.compile(r"\bsame as (\w+)")


@dataclass(frozen=True)
class Shown:
    """An image on a sheet."""

    key: str
    duplicates: str
    """A letter shared by duplicates; empty for an image without duplicates on this sheet."""
    dropped: bool
    """Whether ``dedup`` dropped the post."""


@dataclass(frozen=True)
class Sheet:
    """A contact sheet: a sample of one cluster."""

    cluster: int
    posts: int
    words: list[str]
    """The words most characteristic of its descriptions."""
    shown: list[Shown] = field(default_factory=list)


def cluster_sizes(clusters: Iterable[int]) -> dict[int, int]:
    """Return cluster → number of posts, including the outliers."""
    return dict(sorted(Counter(clusters).items()))


def count_bands(counted: Mapping[int, int]) -> list[int]:
    """Return the number of clusters in each of :data:`BANDS`; the outliers count as one cluster, as in the paper."""
    return count_in_bands(counted.values(), BANDS)


def find_duplicates(ledger: Iterable[Mapping[str, Any]]) -> tuple[dict[str, str], set[str]]:
    """Return key → its component of duplicates (named by its smallest key), and the keys dropped as duplicates.

    The ledger of ``dedup`` has "group …" in its details and "same as …" in its values. A post without duplicates is in no
    component.
    """
    keys, dropped, components = [], set(), DisjointSet()
    for row in ledger:
        key = row["key"]
        keys.append(key)
        components.add(key)
        linked = [*_GROUP.findall(row["detail"]), *_SAME.findall(row["value"]), *_SAME.findall(row["detail"])]
        for other in linked:
            components.add(other)
            components.merge(key, other)
        if row["verdict"] == "dropped" and linked:
            dropped.add(key)
    known = set(keys)
    name_of: dict[str, str] = {}
    for members in components.subsets():
        if len(members & known) > 1:
            name_of |= dict.fromkeys(members & known, min(members))
    return name_of, dropped


def make_sheets(
    cluster_of: Mapping[str, int],
    captions: Mapping[str, str],
    component_of: Mapping[str, str],
    dropped: set[str],
    *,
    sheets: int,
    sheet: int,
    seed: int,
    language: str,
) -> list[Sheet]:
    """Return sheets of the largest clusters, and one of the outliers if there are any, each a seeded sample."""
    counted = cluster_sizes(cluster_of.values())
    shown_clusters = sorted((c for c in counted if c != OUTLIER), key=lambda c: (-counted[c], c))[:sheets]
    if OUTLIER in counted and sheets:
        shown_clusters.append(OUTLIER)
    words = {key: set(content_words(captions.get(key, ""), language)) for key in cluster_of}
    overall = Counter(word for description in words.values() for word in description)
    made = []
    for cluster in shown_clusters:
        members = sorted(key for key, at in cluster_of.items() if at == cluster)
        characteristic = _characteristic_words([words[key] for key in members], overall, len(words))
        made.append(Sheet(cluster, len(members), characteristic, _sample(members, component_of, dropped, sheet, seed)))
    return made


def _characteristic_words(inside: Sequence[set[str]], overall: Counter[str], total: int, most: int = 5) -> list[str]:
    """Return the words whose share of these descriptions exceeds their share of all descriptions most."""
    counts = Counter(word for words in inside for word in words)
    above = {word: n / len(inside) - overall[word] / total for word, n in counts.items() if n > 1}
    return [word for word in sorted(above, key=lambda word: (-above[word], word)) if above[word] > 0][:most]


def _sample(members: Sequence[str], component_of: Mapping[str, str], dropped: set[str], sheet: int, seed: int) -> list[Shown]:
    units: dict[str, list[str]] = {}
    for key in members:
        units.setdefault(component_of.get(key, key), []).append(key)
    drawn = sorted(units, key=lambda unit: seeded_rng(seed, unit, "sheet").random())
    # Components of duplicates take up to half of the sheet, so that some are shown; single images take the rest.
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
        shown += [Shown(key, letters.get(unit, ""), key in dropped) for key in keys]
    return shown


def _letter(number: int) -> str:
    """Return the letters of a number: A … Z, AA, AB …"""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name
