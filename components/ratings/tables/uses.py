"""The places of tables that items fill, as arrays with one entry a use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.ratings.formats.readings import GOOD


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


DATASET, MODEL, RETRIEVAL, TRUTH = "dataset", "model", "retrieval", "truth"


@dataclass(frozen=True)
class Uses:
    """Uses of items; ``columns`` are those of RATING_USES, and the item's ``crop``."""

    items: NDArray[np.int64]
    """Of each use the index of its item."""
    columns: pa.Table

    def of_table(self, name: str) -> Uses:
        """Return the uses in one table."""
        return self._select(pc.equal(self.columns["table"], name))

    def of_crop(self, name: str) -> Uses:
        """Return the uses of items that show the whole image, or its centre."""
        return self._select(pc.equal(self.columns["crop"], name))

    def groups(self, *names: str) -> Iterator[tuple[tuple[Any, ...], Uses]]:
        """Yield the values of some columns and their uses, in ascending order of the values."""
        for values in sorted(tuple(row.values()) for row in self.columns.group_by(list(names)).aggregate([]).to_pylist()):
            chosen = pc.equal(self.columns[names[0]], values[0])
            for name, value in zip(names[1:], values[1:], strict=True):
                chosen = pc.and_(chosen, pc.equal(self.columns[name], value))
            yield values, self._select(chosen)

    def _select(self, chosen: Any) -> Uses:
        return Uses(self.items[chosen.to_numpy(zero_copy_only=False)], self.columns.filter(chosen))

    def __len__(self) -> int:
        return len(self.items)


def all_uses(items: pa.Table) -> Uses:
    """Return the uses of RATING_ITEM records, in their order."""
    lists = items["uses"].combine_chunks()
    parents = pc.list_parent_indices(lists).to_numpy().astype(np.int64)
    fields = pc.list_flatten(lists)
    names = [field.name for field in fields.type]
    columns = pa.table({name: pc.struct_field(fields, name) for name in names})
    crops = items["crop"].combine_chunks().take(pa.array(parents))
    return Uses(parents, columns.append_column("crop", crops))


def first_uses(items: pa.Table) -> pa.Table:
    """Return query, candidate and rank of each item's first use; of an item without uses empty ones."""
    uses = all_uses(items)
    first = np.full(items.num_rows, -1, dtype=np.int64)
    # Assigned from the last to the first, so that the first use remains.
    first[uses.items[::-1]] = np.arange(len(uses))[::-1]
    places = pa.array(first, mask=first < 0)
    empty = {"query": "", "candidate": "", "rank": 0}
    columns = {name: pc.fill_null(uses.columns[name].combine_chunks().take(places), value) for name, value in empty.items()}
    return pa.table(columns)
