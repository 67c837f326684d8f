"""Recall by the majority of raters, beside the recall of known pairs over the same queries (CSC §4.4, table 4).

The paper: "R@1 is the percentage of top-1 results and R@5 the percentage of top-5 results that are evaluated as a match by at
least 3 of the 5 raters". Read literally, R@5 is the share of the results that match, which falls with k; the usual recall is the
share of queries with a match. Both are given. The automatic figures count known pairs instead of majorities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from components.ratings.tables.estimates import Counting, Estimate, agreement, mean_values
from components.ratings.tables.shares import is_complete, raters_of
from components.ratings.tables.uses import RETRIEVAL, Uses, Votes

DEPTH = 5
"""Results of a query that are rated. CSC §4.4: "the top five retrieved results"."""
FIGURES = ("human_r_at_1", "human_matches_of_5", "human_r_at_5", "known_r_at_1", "known_r_at_5")
"""The majority's R@1, share of the five results that match, and queries with a match among five; the same of known pairs."""


@dataclass(frozen=True)
class RecallRow:
    """One model in one direction."""

    source: str
    direction: str
    raters: int
    queries: int
    """Queries whose results all have enough ratings."""
    incomplete: int
    """Other queries."""
    figures: dict[str, Estimate]
    """The values of :data:`FIGURES`; empty without queries."""
    alpha: Estimate | None
    """Agreement on the results of the queries that count; None where it is not defined."""


def recall_rows(votes: Votes, uses: Uses, counting: Counting) -> list[RecallRow]:
    """Return the rows of the table ``retrieval``, by model and direction."""
    retrieved = uses.of_table(RETRIEVAL)
    raters = raters_of(votes, retrieved, counting)
    groups = retrieved.groups("source", "direction")
    return [_row(votes, group, source, direction, raters, counting) for (source, direction), group in groups]


def _row(votes: Votes, uses: Uses, source: str, direction: str, raters: int, counting: Counting) -> RecallRow:
    ranks = uses.columns["rank"].to_numpy().astype(np.int64)
    shown = ranks <= DEPTH
    ranks, items = ranks[shown], uses.items[shown]
    known = uses.columns["known"].to_numpy(zero_copy_only=False)[shown].astype(bool)
    query = uses.columns["query"].combine_chunks().dictionary_encode().indices.to_numpy()[shown].astype(np.int64)
    answered, good = votes.count(items, raters)
    match = 2 * good > np.maximum(answered, 1)
    total = int(query.max()) + 1 if len(query) else 0

    def each(values: NDArray[np.bool_]) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = np.bincount(query[values], minlength=total)
        return counts

    # A query whose first result is not rated says nothing of R@1.
    counted = (each(~is_complete(answered, raters, counting)) == 0) & (each(ranks == 1) > 0)
    results, matches, everything = each(ranks > 0), each(match), np.ones(len(query), dtype=bool)
    first, known_first = each(match & (ranks == 1)) > 0, each(known & (ranks == 1)) > 0
    columns = (first, matches / np.maximum(results, 1), matches > 0, known_first, each(known & everything) > 0)
    values = np.stack([column.astype(np.float64) for column in columns], axis=1)[counted]
    queries = len(values)
    figures = {}
    if queries:
        kinds, counts = np.unique(values, axis=0, return_counts=True)
        figures = dict(zip(FIGURES, mean_values(kinds, counts, counting), strict=True))
    rated = counted[query] if total else everything
    pairs, numbers = np.unique(np.stack([good[rated], answered[rated]], axis=1), axis=0, return_counts=True)
    alpha = agreement(pairs[:, 0], pairs[:, 1], numbers, counting) if queries else None
    return RecallRow(source, direction, raters, queries, total - queries, figures, alpha)
