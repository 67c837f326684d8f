"""``scene_graph_f``: how far a caption says what its references say, as an F-score over the tuples of scene graphs.

In the spirit of SPICE (Anderson et al. 2016, sections 3.1 and 3.2): objects, attributes and relations of the candidate against
the union of the references' graphs, tuples equal when each element is equal by lemma or shares a WordNet synset; the
harmonic mean of precision and recall an item; the corpus score is the items' mean. It is **not SPICE**: another parser, other
rules, another synonym list; its figures must not be set beside published SPICE (docs/metrics.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from components.metrics.lexicon import Lexicon, same_meaning
from components.metrics.parses import Parses
from components.metrics.scene_graph_reading import SceneGraph, Tuple, scene_graph

KINDS = {1: "objects", 2: "attributes", 3: "relations"}
"""Elements of a tuple → what it is."""


@dataclass(frozen=True)
class TupleCounts:
    """Tuples of a candidate, of its references, and how many of them are the same."""

    candidate: int
    references: int
    matched: int

    @property
    def precision(self) -> float:
        """The share of the candidate's tuples that the references have; 0 without tuples."""
        return self.matched / self.candidate if self.candidate else 0.0

    @property
    def recall(self) -> float:
        """The share of the references' tuples that the candidate has; 0 without tuples."""
        return self.matched / self.references if self.references else 0.0

    @property
    def f(self) -> float:
        """Their harmonic mean, 0..1; 0 when nothing is the same."""
        return 2 * self.matched / (self.candidate + self.references) if self.matched else 0.0


@dataclass(frozen=True)
class SceneGraphItem:
    """One item's score, with what it was made of."""

    counts: TupleCounts
    kinds: Mapping[str, TupleCounts]
    """The same for each of :data:`KINDS`."""
    candidate: tuple[Tuple, ...]
    references: tuple[Tuple, ...]
    """The union, synonyms once, by the first of them."""
    pairs: Mapping[Tuple, Tuple]
    """Each matched tuple of the candidate → the references' tuple it is the same as."""

    @property
    def f(self) -> float:
        """0..1."""
        return self.counts.f


@dataclass(frozen=True)
class SceneGraphScores:
    """The corpus score and every item's, or why there are none."""

    mean: float | None
    """The mean of the items' F; None where nothing was measured."""
    items: Sequence[SceneGraphItem]
    synonyms: bool
    """Whether a dictionary told synonyms; without one equal lemmas alone match, and scores are lower."""
    reason: str = ""
    """Why nothing was measured; empty when it was."""


def scene_graph_f(
    candidates: Sequence[str], references: Sequence[Sequence[str]], parses: Parses, lexicon: Lexicon | None = None
) -> SceneGraphScores:
    """The F-score of each candidate over scene-graph tuples, and their mean.

    Args:
        candidates: one caption an item.
        references: its references, at least one an item.
        parses: of all of them; where there are none (another language than English) nothing is measured, and the result says why.
        lexicon: tells synonyms; None = equal lemmas only.

    Raises:
        ValueError: the two differ in length, an item has no reference, or a caption was not parsed.
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
    """One candidate's graph against the union of its references'."""
    groups = _grouped(candidate.tuples, lexicon)
    known_groups = _grouped(sorted({item for graph in references for item in graph.tuples}), lexicon)
    pairs = {groups[one][0]: known_groups[other][0] for one, other in _matching(groups, known_groups, lexicon)}
    said, known = (tuple(group[0] for group in found) for found in (groups, known_groups))
    kinds = {
        name: TupleCounts(
            sum(len(item) == size for item in said),
            sum(len(item) == size for item in known),
            sum(len(item) == size for item in pairs),
        )
        for size, name in KINDS.items()
    }
    return SceneGraphItem(TupleCounts(len(said), len(known), len(pairs)), kinds, said, known, pairs)


def _same(first: Tuple, second: Tuple, lexicon: Lexicon | None) -> bool:
    return len(first) == len(second) and all(same_meaning(one, other, lexicon) for one, other in zip(first, second, strict=True))


def _grouped(tuples: Iterable[Tuple], lexicon: Lexicon | None) -> list[list[Tuple]]:
    """The tuples, those of one meaning together; a group's meaning is that of its first, which stands for it."""
    groups: list[list[Tuple]] = []
    for item in tuples:
        for group in groups if lexicon is not None else ():
            if _same(item, group[0], lexicon):
                group.append(item)
                break
        else:
            groups.append([item])
    return groups


def _matching(said: Sequence[list[Tuple]], known: Sequence[list[Tuple]], lexicon: Lexicon | None) -> list[tuple[int, int]]:
    """The most pairs of groups with a tuple in common or of one meaning, one to one (augmenting paths), by their places."""
    places = {item: place for place, group in enumerate(known) for item in group}
    options: list[list[int]] = []
    for group in said:
        equal = {places[item] for item in group if item in places}
        alike = {
            place
            for place, others in enumerate(known)
            if lexicon is not None and place not in equal and any(_same(one, other, lexicon) for one in group for other in others)
        }
        options.append([*sorted(equal), *sorted(alike)])
    taken: dict[int, int] = {}
    for place in sorted(range(len(said)), key=lambda place: not any(item in places for item in said[place])):
        _pair(place, options, taken, set())
    return sorted((one, other) for other, one in taken.items())


def _pair(place: int, options: Sequence[Sequence[int]], taken: dict[int, int], tried: set[int]) -> bool:
    for other in options[place]:
        if other not in tried:
            tried.add(other)
            if other not in taken or _pair(taken[other], options, taken, tried):
                taken[other] = place
                return True
    return False
