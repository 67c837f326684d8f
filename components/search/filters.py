"""Row filters of a search: conditions on the items' columns, and row numbers or masks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.core.errors import HearsightError


def select_rows(items: pa.Table, where: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return the rows that fulfil every condition, in order.

    Args:
        items: the table.
        where: column → a required value, or a collection of alternatives. None selects missing values.

    Raises:
        HearsightError: a column is unknown, or no row has the value.
    """
    mask = np.ones(items.num_rows, bool)
    for name, condition in where.items():
        if name not in items.column_names:
            raise HearsightError(
                f"the items have no column {name!r}", where="the filter", hint=f"choose among {', '.join(items.column_names)}"
            )
        several = isinstance(condition, Collection) and not isinstance(condition, (str, bytes, Mapping))
        mask &= np.logical_or.reduce(
            [_matching(items[name], name, value) for value in (condition if several else [condition])] or [~mask & mask]
        )
    return np.flatnonzero(mask)


def parse_rows(rows: NDArray[Any] | Collection[int], n: int) -> NDArray[np.int64]:
    """Return sorted, distinct row numbers from row numbers in any order or from a mask of n.

    Raises:
        HearsightError: the mask has another length, a number is out of range, or it is neither.
    """
    given = np.asarray(rows)
    if given.dtype == bool:
        if given.shape != (n,):
            raise HearsightError(f"a mask of shape {given.shape} for {n} rows", where="the filter", hint="give one boolean a row")
        return np.flatnonzero(given)
    if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
        raise HearsightError(
            f"rows are {given.dtype} of shape {given.shape}", where="the filter", hint="give row numbers, or a mask of all rows"
        )
    numbers = np.unique(given.astype(np.int64))
    if len(numbers) and not 0 <= numbers[0] <= numbers[-1] < n:
        invalid = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise HearsightError(f"there is no row {invalid}", where="the filter", hint=f"rows are numbered 0 to {n - 1}")
    return numbers


def _matching(column: pa.ChunkedArray, name: str, value: Any) -> NDArray[np.bool_]:
    """Return the mask of rows whose column equals ``value`` (None: is null)."""
    if value is None:
        matches = pc.is_null(column)
    else:
        try:
            matches = pc.fill_null(pc.equal(column, pa.scalar(value)), False)
        except (pa.ArrowException, TypeError) as error:
            raise HearsightError(
                f"{value!r} is not a value of column {name!r}, which has type {column.type}", where="the filter"
            ) from error
    mask: NDArray[np.bool_] = np.asarray(matches.to_numpy(), dtype=bool)
    if not mask.any():
        raise HearsightError(f"no item has {name} = {value!r}", where="the filter", hint="choose an existing value")
    return mask
