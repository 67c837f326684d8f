"""Recall at k of queries among items, both given as embeddings: exact, and without ever holding all scores.

Items are ordered by their dot product with the query. **Ties are pessimistic**: of equal scores every wrong item stands before
every right one, so a model that gives all items one score has the right ones last. A score that is no number is the lowest.
Scores do not depend on how many are computed at once (:mod:`components.metrics.similarity`), so neither does any rank.

Two definitions of recall go by one name. **Any hit** (SpeechCLIP; CSC, section 2.3): the share of queries with a right item
among the k best. **Share found** (platalea): the mean share of a query's right items that is among the k best; with more than k
right items it cannot reach 1. They are equal where every query has one right item.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from components.metrics.similarity import SplitVectors, exact_scores, paired_scores, split_vectors

CHUNK = 1024
"""Queries, and items, of one block of scores: 8 MB."""

Places = NDArray[np.int64]


class RelevantRanks(NamedTuple):
    """Where the right items of each query stand."""

    places: list[Places]
    """Of each query its right items' places among all items, 1 = best, ascending."""

    @property
    def best(self) -> Places:
        """n: the place of each query's best right item."""
        return np.array([places[0] for places in self.places], dtype=np.int64)

    @property
    def right(self) -> Places:
        """n: how many items are right."""
        return np.array([len(places) for places in self.places], dtype=np.int64)


def best_ranks(
    queries: ArrayLike, items: ArrayLike, query_identity: ArrayLike, item_identity: ArrayLike, chunk: int = CHUNK
) -> Places:
    """The rank of each query's best right item, n: 1 + the wrong items that score at least as high.

    Args:
        queries, items: n × D and m × D, float32.
        query_identity, item_identity: n and m; an item is right where they are equal.
        chunk: the side of a block of scores; changes no result.

    Raises:
        ValueError: a query has no right item, or the shapes do not fit.
    """
    task = _Task(queries, items, query_identity, item_identity, chunk)
    best = np.array([of_query[-1] for of_query in task.thresholds])
    ranks = np.ones(len(best), dtype=np.int64)
    for rows, found, right in task.blocks():
        found[right] = math.nan  # no comparison with it holds
        ranks[rows] += (found >= best[rows, None]).sum(axis=1)
    return ranks


def relevant_ranks(
    queries: ArrayLike, items: ArrayLike, query_identity: ArrayLike, item_identity: ArrayLike, chunk: int = CHUNK
) -> RelevantRanks:
    """The places of all right items of each query; arguments and errors of :func:`best_ranks`."""
    task = _Task(queries, items, query_identity, item_identity, chunk)
    before = [np.zeros(len(of_query), dtype=np.int64) for of_query in task.thresholds]
    for rows, found, right in task.blocks():
        for number, one, own in zip(range(rows.start, rows.stop), found, right, strict=True):
            limits = task.thresholds[number]
            # How many of the limits each wrong item reaches, so how many reach each.
            reached = np.bincount(np.searchsorted(limits, one[~own], side="right"), minlength=len(limits) + 1)
            before[number] += reached[::-1].cumsum()[::-1][1:]
    return RelevantRanks([wrong[::-1] + np.arange(1, len(wrong) + 1) for wrong in before])


def recall_at(ranks: ArrayLike, depth: int) -> float:
    """Any-hit recall: the share of ranks that are at most ``depth``; 0 of no queries."""
    found = np.asarray(ranks)
    return float((found <= depth).mean()) if len(found) else 0.0


def shares_at(places: Sequence[ArrayLike], right: ArrayLike, depth: int) -> NDArray[np.float64]:
    """Of each query, the share of its right items that is among the ``depth`` best, n.

    Args:
        places: of each query the places of its right items; those behind ``depth`` may be left out.
        right: n: how many items are right.
    """
    found = np.array([(np.asarray(one) <= depth).sum() for one in places], dtype=np.float64)
    shares: NDArray[np.float64] = found / np.asarray(right)
    return shares


def chance_of_hit(right: ArrayLike, items: int, depth: int) -> float:
    """Any-hit recall expected of a random order: the mean of 1 − C(m − r, k) / C(m, k); with one right item k / m.

    Args:
        right: n: r, how many of the m ``items`` are right.
    """
    numbers, times = np.unique(np.asarray(right, dtype=np.int64), return_counts=True)
    depth = min(depth, items)
    missed = [math.comb(items - int(number), depth) / math.comb(items, depth) for number in numbers]
    return math.fsum(t * (1.0 - miss) for t, miss in zip(times.tolist(), missed, strict=True)) / max(1, int(times.sum()))


def chance_of_share(items: int, depth: int) -> float:
    """Share found expected of a random order: k / m, whatever is right."""
    return min(depth, items) / items if items else 0.0


class _Task:
    """Queries and items made ready, and the scores that right items have."""

    def __init__(
        self, queries: ArrayLike, items: ArrayLike, query_identity: ArrayLike, item_identity: ArrayLike, chunk: int
    ) -> None:
        self.queries, self.items, self.chunk = split_vectors(queries), split_vectors(items), chunk
        self.asked, self.offered = (np.asarray(identity) for identity in (query_identity, item_identity))
        if chunk < 1:
            raise ValueError(f"a block needs a side of 1 or more, not {chunk}")
        for what, vectors, identities in (("queries", self.queries, self.asked), ("items", self.items, self.offered)):
            if identities.shape != (len(vectors.finite),):
                raise ValueError(f"there are {len(vectors.finite)} {what} and identities of shape {identities.shape}")
        self.thresholds = self._of_right()

    def _of_right(self) -> list[NDArray[np.float64]]:
        """Of each query the scores of its right items, ascending."""
        order = np.argsort(self.offered, kind="stable")
        ordered = self.offered[order]
        first = np.searchsorted(ordered, self.asked, side="left")
        right = np.searchsorted(ordered, self.asked, side="right") - first
        if len(right) and not right.all():
            raise ValueError(f"query {int(np.argmin(right))} has no right item")
        ends = np.cumsum(right)
        # The n-th of all pairs of a query and a right item.
        total = int(ends[-1]) if len(ends) else 0
        query = np.repeat(np.arange(len(right)), right)
        item = order[np.arange(total) - np.repeat(ends - right - first, right)] if total else np.zeros(0, dtype=np.int64)
        found = np.empty(total)
        for start in range(0, total, self.chunk):
            some = slice(start, start + self.chunk)
            found[some] = paired_scores(self.queries.rows(query[some]), self.items.rows(item[some]))
        return [np.sort(found[end - number : end]) for end, number in zip(ends.tolist(), right.tolist(), strict=True)]

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.bool_]]]:
        """Block by block: which queries, their scores with some of the items, and which of these are right."""
        for down in range(0, len(self.asked), self.chunk):
            rows = slice(down, min(down + self.chunk, len(self.asked)))
            queries: SplitVectors = self.queries.rows(rows)
            for across in range(0, len(self.offered), self.chunk):
                columns = slice(across, across + self.chunk)
                right = self.asked[rows, None] == self.offered[None, columns]
                yield rows, exact_scores(queries, self.items.rows(columns)), right
