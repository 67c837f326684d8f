"""Exact recall at k of queries among items, both given as embeddings, without holding all scores in memory.

Items are ordered by their dot product with the query. **Ties are pessimistic**: among equal scores every irrelevant item precedes
every relevant one, so a model that gives all items the same score ranks relevant ones last. NaN is the lowest score. Scores do
not depend on how many are computed at once (:mod:`components.metrics.similarity`), so ranks do not either.

Recall is the share of queries with a relevant item among the k best (any hit; CSC §2.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from components.metrics.similarity import SplitVectors, exact_scores, paired_scores, split_vectors

CHUNK = 1024
"""Queries, and items, of one block of scores: 8 MB."""

Ranks = NDArray[np.int64]


class RelevantRanks(NamedTuple):
    """The ranks of each query's relevant items."""

    ranks: list[Ranks]
    """For each query its relevant items' ranks among all items, 1 = best, ascending."""

    @property
    def best(self) -> Ranks:
        """n: rank of each query's best relevant item."""
        return np.array([ranks[0] for ranks in self.ranks], dtype=np.int64)

    @property
    def relevant(self) -> Ranks:
        """n: number of relevant items."""
        return np.array([len(ranks) for ranks in self.ranks], dtype=np.int64)


def best_ranks(
    queries: ArrayLike, items: ArrayLike, query_identity: ArrayLike, item_identity: ArrayLike, chunk: int = CHUNK
) -> Ranks:
    """Return the rank of each query's best relevant item, n: 1 + the irrelevant items that score at least as high.

    Args:
        queries, items: n × D and m × D, float32.
        query_identity, item_identity: n and m; an item is relevant if they are equal.
        chunk: side of a block of scores; does not affect results.

    Raises:
        ValueError: a query has no relevant item, or the shapes do not match.
    """
    task = _Task(queries, items, query_identity, item_identity, chunk)
    best = np.array([of_query[-1] for of_query in task.thresholds])
    ranks = np.ones(len(best), dtype=np.int64)
    for rows, _, block, right in task.blocks():
        block[right] = math.nan  # compares as False
        ranks[rows] += (block >= best[rows, None]).sum(axis=1)
    return ranks


def relevant_ranks(
    queries: ArrayLike, items: ArrayLike, query_identity: ArrayLike, item_identity: ArrayLike, chunk: int = CHUNK
) -> RelevantRanks:
    """Return the ranks of all relevant items of each query; arguments and errors as :func:`best_ranks`."""
    task = _Task(queries, items, query_identity, item_identity, chunk)
    before = [np.zeros(len(of_query), dtype=np.int64) for of_query in task.thresholds]
    for rows, _, block, right in task.blocks():
        for number, row_scores, relevant in zip(range(rows.start, rows.stop), block, right, strict=True):
            thresholds = task.thresholds[number]
            # From the number of thresholds that each irrelevant item reaches follows how many items reach each threshold.
            reached = np.bincount(np.searchsorted(thresholds, row_scores[~relevant], side="right"), minlength=len(thresholds) + 1)
            before[number] += reached[::-1].cumsum()[::-1][1:]
    return RelevantRanks([wrong[::-1] + np.arange(1, len(wrong) + 1) for wrong in before])


def recall_at(ranks: ArrayLike, depth: int) -> float:
    """Return any-hit recall: the share of ranks that are at most ``depth``; 0 without queries."""
    values = np.asarray(ranks)
    return float((values <= depth).mean()) if len(values) else 0.0


def chance_of_hit(right: ArrayLike, items: int, depth: int) -> float:
    """Return the expected any-hit recall of a random order: the mean of 1 − C(m − r, k) / C(m, k); with one relevant item k /
    m.

    Args:
        right: n: r, the number of relevant items among the m ``items``.
    """
    numbers, times = np.unique(np.asarray(right, dtype=np.int64), return_counts=True)
    depth = min(depth, items)
    missed = [math.comb(items - int(number), depth) / math.comb(items, depth) for number in numbers]
    return math.fsum(t * (1.0 - miss) for t, miss in zip(times.tolist(), missed, strict=True)) / max(1, int(times.sum()))


class _Task:
    """Prepared queries and items, with the scores of relevant items."""

    def __init__(
        self, queries: ArrayLike, items: ArrayLike, query_identity: ArrayLike, item_identity: ArrayLike, chunk: int
    ) -> None:
        self.queries, self.items, self.chunk = split_vectors(queries), split_vectors(items), chunk
        self.query_identity, self.item_identity = (np.asarray(identity) for identity in (query_identity, item_identity))
        if chunk < 1:
            raise ValueError(f"chunk must be at least 1, not {chunk}")
        for what, vectors, identities in (
            ("queries", self.queries, self.query_identity),
            ("items", self.items, self.item_identity),
        ):
            if identities.shape != (len(vectors.finite),):
                raise ValueError(f"there are {len(vectors.finite)} {what} but identities of shape {identities.shape}")
        self.thresholds = self._relevant_scores()

    def _relevant_scores(self) -> list[NDArray[np.float64]]:
        """Return the scores of each query's relevant items, ascending."""
        order = np.argsort(self.item_identity, kind="stable")
        ordered = self.item_identity[order]
        first = np.searchsorted(ordered, self.query_identity, side="left")
        right = np.searchsorted(ordered, self.query_identity, side="right") - first
        if len(right) and not right.all():
            raise ValueError(f"query {int(np.argmin(right))} has no relevant item")
        ends = np.cumsum(right)
        # All pairs of a query and a relevant item.
        total = int(ends[-1]) if len(ends) else 0
        query = np.repeat(np.arange(len(right)), right)
        item = order[np.arange(total) - np.repeat(ends - right - first, right)] if total else np.zeros(0, dtype=np.int64)
        scores = np.empty(total)
        for start in range(0, total, self.chunk):
            part = slice(start, start + self.chunk)
            scores[part] = paired_scores(self.queries.rows(query[part]), self.items.rows(item[part]))
        return [np.sort(scores[end - number : end]) for end, number in zip(ends.tolist(), right.tolist(), strict=True)]

    def blocks(self) -> Iterator[tuple[slice, slice, NDArray[np.float64], NDArray[np.bool_]]]:
        """Yield blocks: a slice of queries, a slice of items, their scores, and which are relevant; a query's blocks in order."""
        for down in range(0, len(self.query_identity), self.chunk):
            rows = slice(down, min(down + self.chunk, len(self.query_identity)))
            queries: SplitVectors = self.queries.rows(rows)
            for across in range(0, len(self.item_identity), self.chunk):
                columns = slice(across, across + self.chunk)
                right = self.query_identity[rows, None] == self.item_identity[None, columns]
                yield rows, columns, exact_scores(queries, self.items.rows(columns)), right
