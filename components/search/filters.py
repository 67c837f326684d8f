"""Which rows a search looks at: conditions on the items' columns, and rows or masks a caller made."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.core.errors import HearsightError


def select_rows(items: pa.Table, where: Mapping[str, Any]) -> NDArray[np.int64]:
    """The rows that fulfil every condition, in order.

    Args:
        items: the table.
        where: column → the value it must have, or a collection of values of which it must have one. None is a value: missing.

    Raises:
        HearsightError: no such column, or a value that no row of it has.
    """
    mask = np.ones(items.num_rows, bool)
    for name, wanted in where.items():
        if name not in items.column_names:
            raise HearsightError(
                f"the items have no column {name!r}", where="the filter", hint=f"choose among {', '.join(items.column_names)}"
            )
        several = isinstance(wanted, Collection) and not isinstance(wanted, (str, bytes, Mapping))
        mask &= np.logical_or.reduce(
            [_having(items[name], name, value) for value in (wanted if several else [wanted])] or [~mask & mask]
        )
    return np.flatnonzero(mask)


def parse_rows(rows: NDArray[Any] | Collection[int], n: int) -> NDArray[np.int64]:
    """Row numbers, sorted and each once, from row numbers in any order or from a mask of n.

    Raises:
        HearsightError: a mask of another length, a number that is no row, or neither.
    """
    given = np.asarray(rows)
    if given.dtype == bool:
        if given.shape != (n,):
            raise HearsightError(f"a mask of {given.shape} for {n} rows", where="the filter", hint="give one yes or no a row")
        return np.flatnonzero(given)
    if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
        raise HearsightError(
            f"rows as {given.dtype} {given.shape}", where="the filter", hint="give row numbers, or a mask of all rows"
        )
    found = np.unique(given.astype(np.int64))
    if len(found) and not 0 <= found[0] <= found[-1] < n:
        wrong = found[0] if found[0] < 0 else found[-1]
        raise HearsightError(f"there is no row {wrong}", where="the filter", hint=f"rows go from 0 to {n - 1}")
    return found


def _having(column: pa.ChunkedArray, name: str, value: Any) -> NDArray[np.bool_]:
    if value is None:
        found = pc.is_null(column)
    else:
        try:
            found = pc.fill_null(pc.equal(column, pa.scalar(value)), False)
        except (pa.ArrowException, TypeError) as error:
            raise HearsightError(
                f"{value!r} is no value of the column {name!r}, which holds {column.type}", where="the filter"
            ) from error
    mask: NDArray[np.bool_] = np.asarray(found.to_numpy(), dtype=bool)
    if not mask.any():
        raise HearsightError(f"no item has {name} = {value!r}", where="the filter", hint="choose a value that is there")
    return mask
