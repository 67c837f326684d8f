"""``scene_graph_f``: agreement of a caption's content with its references, as an F-score over scene graph tuples.

In the manner of SPICE (Anderson et al. 2016, sections 3.1 and 3.2): objects, attributes and relations of the candidate are
compared with the union of the references' graphs; tuples are equal if each element is equal by lemma or shares a WordNet synset.
An item's score is the harmonic mean of precision and recall, the corpus score the items' mean. It is **not SPICE**: parser, rules
and synonym list differ, so its figures must not be compared with published SPICE (docs/metrics.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from components.metrics.lexicon import Lexicon, same_meaning
from components.metrics.parses import Parses
from components.metrics.scene_graph_reading import SceneGraph, Tuple, scene_graph

KINDS = {1: "objects", 2: "attributes", 3: "relations"}
"""Number of elements of a tuple → its kind."""


@dataclass(frozen=True)
class TupleCounts:
    """Numbers of tuples of a candidate, of its references, and in both."""

    candidate: int
    references: int
    matched: int

    @property
    def precision(self) -> float:
        """Share of the candidate's tuples that are in the references; 0 without tuples."""
        return self.matched / self.candidate if self.candidate else 0.0

    @property
    def recall(self) -> float:
        """Share of the references' tuples that are in the candidate; 0 without tuples."""
        return self.matched / self.references if self.references else 0.0

    @property
    def f(self) -> float:
        """Their harmonic mean, 0..1; 0 without matches."""
        return 2 * self.matched / (self.candidate + self.references) if self.matched else 0.0


@dataclass(frozen=True)
class SceneGraphItem:
    """One item's score and its tuples."""

    counts: TupleCounts
    kinds: Mapping[str, TupleCounts]
    """The counts of each of :data:`KINDS`."""
    candidate: tuple[Tuple, ...]
    references: tuple[Tuple, ...]
    """The union, with synonyms merged into the first of them."""
    pairs: Mapping[Tuple, Tuple]
    """Each matched tuple of the candidate → the matching tuple of the references."""

    @property
    def f(self) -> float:
        """0..1."""
        return self.counts.f


@dataclass(frozen=True)
class SceneGraphScores:
    """The corpus score and all items' scores, or the reason why there are none."""

    mean: float | None
    """Mean of the items' F; None if nothing was measured."""
    items: Sequence[SceneGraphItem]
    synonyms: bool
    """Whether a dictionary was used; without one only equal lemmas match, and scores are lower."""
    reason: str = ""
    """Why nothing was measured; empty otherwise."""


def scene_graph_f(
    candidates: Sequence[str], references: Sequence[Sequence[str]], parses: Parses, lexicon: Lexicon | None = None
) -> SceneGraphScores:
    """Return the F-score of each candidate over scene graph tuples, and their mean.

    Args:
        candidates: one caption an item.
        references: at least one an item.
        parses: of all captions; without them (languages other than English) nothing is measured, and the result has the reason.
        lexicon: source of synonyms; None: equal lemmas only.

    Raises:
        ValueError: lengths differ, an item has no reference, or a caption was not parsed.
    """
    if len(candidates) != len(references) or not all(references):
        raise ValueError("one candidate and at least one reference an item are needed")
    if parses.sentences is None:
        return SceneGraphScores(None, (), lexicon is not None, parses.reason)
    graphs: dict[str, SceneGraph] = {}

    def graph(caption: str) -> SceneGraph:
        if caption not in graphs:
            graphs[caption] = scene_graph(parses[caption])
        return graphs[caption]

    items = [
        compare_graphs(graph(candidate), [graph(reference) for reference in known], lexicon)
        for candidate, known in zip(candidates, references, strict=True)
    ]
    mean = math.fsum(item.f for item in items) / len(items) if items else None
    return SceneGraphScores(mean, items, lexicon is not None, "" if items else "no captions")


def compare_graphs(candidate: SceneGraph, references: Sequence[SceneGraph], lexicon: Lexicon | None = None) -> SceneGraphItem:
    """Return the comparison of a candidate's graph with the union of its references'."""
    groups = _grouped(candidate.tuples, lexicon)
    known_groups = _grouped(sorted({item for graph in references for item in graph.tuples}), lexicon)
    pairs = {groups[one][0]: known_groups[other][0] for one, other in _matching(groups, known_groups, lexicon)}
    candidate_tuples, known = (tuple(group[0] for group in side) for side in (groups, known_groups))
    kinds = {
        name: TupleCounts(
            sum(len(item) == size for item in candidate_tuples),
            sum(len(item) == size for item in known),
            sum(len(item) == size for item in pairs),
        )
        for size, name in KINDS.items()
    }
    return SceneGraphItem(TupleCounts(len(candidate_tuples), len(known), len(pairs)), kinds, candidate_tuples, known, pairs)


def _same(first: Tuple, second: Tuple, lexicon: Lexicon | None) -> bool:
    return len(first) == len(second) and all(same_meaning(one, other, lexicon) for one, other in zip(first, second, strict=True))


def _grouped(tuples: Iterable[Tuple], lexicon: Lexicon | None) -> list[list[Tuple]]:
    """Return the tuples grouped by meaning; a group's first tuple represents it."""
    groups: list[list[Tuple]] = []
    for item in tuples:
        for group in groups if lexicon is not None else ():
            if _same(item, group[0], lexicon):
                group.append(item)
                break
        else:
            groups.append([item])
    return groups


def _matching(groups: Sequence[list[Tuple]], known: Sequence[list[Tuple]], lexicon: Lexicon | None) -> list[tuple[int, int]]:
    """Return a maximum matching of groups with a common tuple or meaning, one to one (augmenting paths), as index pairs."""
    group_of = {item: index for index, group in enumerate(known) for item in group}
    options: list[list[int]] = []
    for group in groups:
        equal = {group_of[item] for item in group if item in group_of}
        alike = {
            index
            for index, others in enumerate(known)
            if lexicon is not None and index not in equal and any(_same(one, other, lexicon) for one in group for other in others)
        }
        options.append([*sorted(equal), *sorted(alike)])
    taken: dict[int, int] = {}
    for index in sorted(range(len(groups)), key=lambda index: not any(item in group_of for item in groups[index])):
        _augment(index, options, taken, set())
    return sorted((one, other) for other, one in taken.items())


def _augment(group: int, options: Sequence[Sequence[int]], taken: dict[int, int], tried: set[int]) -> bool:
    """Match this group, rematching others if needed; return whether it succeeded."""
    for known_group in options[group]:
        if known_group not in tried:
            tried.add(known_group)
            if known_group not in taken or _augment(taken[known_group], options, taken, tried):
                taken[known_group] = group
                return True
    return False
