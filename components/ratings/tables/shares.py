"""Shares rated GOOD by k or more of n raters, for each source of a table, and the agreement of the raters.

CC §5.4.1: "report the percentage of pairs that receive k or more (k+) GOOD annotations"; CSC table 3 is the same of five raters.
A table's n is that of ``Counting``, or the fewest raters asked for any of its items: a pair that also fills a place of a table
with more raters is counted by its first n verdicts, so that one column has one meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from components.ratings.tables.estimates import Counting, Estimate, agreement, mean_values
from components.ratings.tables.uses import DATASET, MODEL, RETRIEVAL, TRUTH, Uses, Votes


@dataclass(frozen=True)
class ShareRow:
    """One source of a table."""

    table: str
    source: str
    crop: str
    """whole or centre; empty where the table does not separate them."""
    raters: int
    """n."""
    items: int
    """Items that count."""
    incomplete: int
    """Items with fewer ratings than needed, unrated ones included."""
    good: tuple[Estimate, ...]
    """Share of the items rated GOOD by 1 or more, 2 or more, ... n raters; empty without items."""
    alpha: Estimate | None
    """Agreement; None where it is not defined."""


def share_rows(votes: Votes, uses: Uses, counting: Counting) -> list[ShareRow]:
    """Return the rows of the tables ``dataset``, ``model`` and ``truth``, in this order, then by source and crop."""
    rows = []
    for table in (DATASET, MODEL, TRUTH):
        of_table = uses.of_table(table)
        raters = raters_of(votes, of_table, counting)
        for (source, *crop), group in of_table.groups("source", *(["crop"] if table == TRUTH else [])):
            rows.append(_row(votes, group, (table, source, crop[0] if crop else ""), raters, counting))
    return rows


def raters_of(votes: Votes, uses: Uses, counting: Counting) -> int:
    """Return the n of the table that all of ``uses`` are of; 0 for an empty one."""
    if not len(uses):
        return 0
    captions = uses.columns["table"][0].as_py() in (DATASET, MODEL)
    return min(int(votes.asked[uses.items].min()), counting.caption_raters if captions else counting.pair_raters)


def table_agreement(votes: Votes, uses: Uses, counting: Counting) -> dict[str, Estimate]:
    """Return the agreement over all items of each table that count, each once; tables where it is not defined are missing."""
    found = {}
    for table in (DATASET, MODEL, RETRIEVAL, TRUTH):
        of_table = uses.of_table(table)
        raters = raters_of(votes, of_table, counting)
        answered, good = votes.count(np.unique(of_table.items), raters)
        counted = is_complete(answered, raters, counting)
        kinds, counts = np.unique(np.stack([good[counted], answered[counted]], axis=1), axis=0, return_counts=True)
        if alpha := agreement(kinds[:, 0], kinds[:, 1], counts, counting):
            found[table] = alpha
    return found


def is_complete(answered: NDArray[np.int64], raters: int | NDArray[np.int64], counting: Counting) -> NDArray[np.bool_]:
    """Return which items have enough ratings to count."""
    needed = np.minimum(counting.least, raters) if counting.least else raters
    enough: NDArray[np.bool_] = answered >= np.maximum(needed, 1)
    return enough


def _row(votes: Votes, uses: Uses, name: tuple[str, str, str], raters: int, counting: Counting) -> ShareRow:
    answered, good = votes.count(uses.items, raters)
    complete = is_complete(answered, raters, counting)
    answered, good = answered[complete], good[complete]
    kinds, counts = np.unique(np.stack([good, answered], axis=1), axis=0, return_counts=True)
    items = len(good)
    shares = at_least(kinds[:, 0], counts, range(1, raters + 1), counting) if items else ()
    return ShareRow(*name, raters, items, len(uses) - items, shares, agreement(kinds[:, 0], kinds[:, 1], counts, counting))


def at_least(
    good: NDArray[np.int64], counts: NDArray[np.int64], thresholds: Sequence[int], counting: Counting
) -> tuple[Estimate, ...]:
    """Return the share of items with k or more GOOD verdicts for each threshold k.

    Args:
        good: of each kind of item.
        counts: how many items of each kind there are.
    """
    indicators = (good[:, None] >= np.array(thresholds)).astype(np.float64)
    return mean_values(indicators, counts, counting)
