"""The ratings of each item that count: the first ones by time and rater, as many as are asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.ratings.verdicts import GOOD


@dataclass(frozen=True)
class Votes:
    """The verdicts of all items, ordered by item, then time, then rater."""

    asked: NDArray[np.int64]
    """Of each item, how many raters are asked."""
    start: NDArray[np.int64]
    """Of each item, the index of its first verdict."""
    given: NDArray[np.int64]
    """Of each item, how many verdicts there are."""
    good_before: NDArray[np.int64]
    """Index of a verdict → how many of all before it are GOOD; one entry more than verdicts."""

    def count(self, items: NDArray[np.int64], raters: int | NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return of some items how many of their first ``raters`` verdicts there are, and how many are GOOD."""
        start = self.start[items]
        counted = np.minimum(self.given[items], raters)
        return counted, self.good_before[start + counted] - self.good_before[start]


def collect_votes(items: pa.Table, ratings: pa.Table) -> Votes:
    """Return the verdicts of RATING_ITEM records; ratings of other items are left out.

    Args:
        items: with the columns ``key`` and ``raters``.
        ratings: RATING records, at most one of an item by a rater.
    """
    place = pc.index_in(ratings["item"], value_set=items["key"].combine_chunks())
    known = ratings.select(["time", "rater"]).append_column("place", place)
    known = known.append_column("good", pc.equal(ratings["verdict"], GOOD)).filter(pc.is_valid(place))
    known = known.sort_by([("place", "ascending"), ("time", "ascending"), ("rater", "ascending")])
    number = items.num_rows
    given = np.bincount(known["place"].to_numpy().astype(np.int64), minlength=number) if known.num_rows else np.zeros(number, int)
    return Votes(
        items["raters"].to_numpy().astype(np.int64),
        np.concatenate([[0], np.cumsum(given)[:-1]]).astype(np.int64) if number else np.zeros(0, np.int64),
        given.astype(np.int64),
        np.concatenate([[0], np.cumsum(known["good"].to_numpy().astype(np.int64))]).astype(np.int64),
    )
