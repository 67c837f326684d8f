"""The canonical table of ratings: those of several files joined, one of each item by each rater.

Of several ratings of an item by one rater the last by time counts, then the last in the order of files and rows. Ratings without
a time are before those with one. Every other rating is a ledger row that says why.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from components.core.ledger import DROPPED, KEPT
from components.core.records import LEDGER, RATING
from components.ratings.tables.uses import first_uses

REPLACED, UNKNOWN = "replaced", "unknown_item"


def join_ratings(files: Sequence[tuple[str, pa.Table]], items: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return RATING records in the order of their keys, and the ledger of all ratings of the files.

    Args:
        files: name and ratings (``formats.readings.READ``) of each file, in their order.
        items: RATING_ITEM records.
    """
    table = pa.concat_tables([_named(name, read) for name, read in files]).combine_chunks()
    table = table.append_column("order", pa.array(np.arange(table.num_rows)))
    place = pc.index_in(table["item"], value_set=items["key"].combine_chunks())
    reason = pc.if_else(pc.is_valid(place), "", UNKNOWN)
    key = pc.binary_join_element_wise(table["item"], table["rater"], ".")
    table = table.append_column("place", place).append_column("key", key).append_column("reason", reason)
    ratings = table.filter(pc.equal(reason, ""))
    order = pc.sort_indices(ratings, sort_keys=[("key", "ascending"), ("time", "ascending"), ("order", "ascending")])
    ratings = ratings.take(order).combine_chunks()
    keys = ratings["key"].combine_chunks()
    last = np.ones(len(keys), dtype=bool)
    if len(keys) > 1:
        last[:-1] = pc.not_equal(keys.slice(0, len(keys) - 1), keys.slice(1)).to_numpy(zero_copy_only=False)
    counted = ratings.filter(pa.array(last))
    # Of each replaced rating, the one that counts: the next one that is last.
    winner = np.flatnonzero(last)[np.searchsorted(np.flatnonzero(last), np.flatnonzero(~last))] if len(keys) else last
    replaced = ratings.filter(pa.array(~last)).append_column("by", ratings["origin"].take(pa.array(winner.astype(np.int64))))
    return _records(counted, items), _ledger(counted, replaced, table.filter(pc.not_equal(reason, "")))


def _named(name: str, read: pa.Table) -> pa.Table:
    rows = read["row"].cast(pa.string())
    origin = pc.binary_join_element_wise(pa.scalar(f"{name} "), rows, "")
    return read.append_column("origin", origin)


def _records(ratings: pa.Table, items: pa.Table) -> pa.Table:
    of_items = first_uses(items).take(ratings["place"])
    columns = {name: ratings[name] for name in ratings.column_names} | {name: of_items[name] for name in of_items.column_names}
    return pa.table([columns[name] for name in RATING.names], schema=RATING)


def _ledger(counted: pa.Table, replaced: pa.Table, others: pa.Table) -> pa.Table:
    """Return a row for each rating: kept ones by their key, others by key, file and row."""
    empty = pa.scalar("")
    kept = _rows(counted["key"], KEPT, empty, empty, empty, counted["origin"])
    value = pc.binary_join_element_wise(replaced["verdict"], replaced["time"], " ")
    of_replaced = _rows(_own_key(replaced), DROPPED, pa.scalar(REPLACED), value, pa.scalar("the rater's last"), replaced["by"])
    expected = pa.scalar("an item of the input")
    of_others = _rows(_own_key(others), DROPPED, others["reason"], others["item"], expected, others["origin"])
    return pa.concat_tables([kept, of_replaced, of_others])


def _own_key(ratings: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(ratings["key"], ratings["origin"], " ")


def _rows(key: pa.ChunkedArray, verdict: str, rule: pa.Array, value: pa.Array, threshold: pa.Array, detail: pa.Array) -> pa.Table:
    columns = [pa.scalar("record"), key, pa.scalar(verdict), rule, value, threshold, detail]
    length = len(key)
    arrays = [pa.repeat(column.as_py(), length) if isinstance(column, pa.Scalar) else column for column in columns]
    return pa.table([array.cast(pa.string()) for array in arrays], schema=LEDGER)
