"""The exact index: opening, filtering, and searching for the rows of greatest dot product (docs/search.md)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from components.core.errors import HearsightError
from components.search import files
from components.search.files import Contents, build_index
from components.search.scan import Matrix, scan

__all__ = ["Contents", "SearchIndex", "build_index"]


@dataclass(frozen=True)
class SearchIndex:
    """An opened index.

    Attributes:
        contents: content of ``index.json``: n, dimension, rows of each kind, the model's digest.
        embeddings: n × D, float32, memory-mapped.
        norms: n, float32: upper bounds of the embeddings' norms.
        items: n rows, with ``key``, ``kind`` and the builder's columns.
    """

    folder: Path
    contents: Contents
    embeddings: NDArray[np.float32]
    norms: NDArray[np.float32]
    items: pa.Table

    @classmethod
    def open(cls, folder: Path, model: str | None = None, *, verify: bool = True) -> SearchIndex:
        """Open an index after checking its files.

        Args:
            model: digest of the queries' model; None: not checked.
            verify: read every byte and compare digests; otherwise only sizes, shapes and dtypes are compared.

        Raises:
            HearsightError: there is no complete index, it is damaged, or its version or model differs.
        """
        folder = Path(folder)
        contents = files.read_contents(folder, model, verify=verify)
        embeddings = files.map_array(folder / files.EMBEDDINGS, (contents.n, contents.dimension))
        norms = np.array(files.map_array(folder / files.NORMS, (contents.n,)))
        return cls(folder, contents, embeddings, norms, files.read_items(folder / files.ITEMS, contents.n))

    def __len__(self) -> int:
        return self.contents.n

    @property
    def dimension(self) -> int:
        """D, the dimension of the embeddings."""
        return self.contents.dimension

    def select(self, where: Mapping[str, Any]) -> NDArray[np.int64]:
        """Return the rows whose items fulfil every condition: column → a value, or a collection of values."""
        return select_rows(self.items, where)

    def item(self, row: int) -> dict[str, Any]:
        """Return the record of a row."""
        return dict(self.items.slice(row, 1).to_pylist()[0])

    def search(
        self,
        queries: ArrayLike,
        k: int,
        *,
        where: Mapping[str, Any] | None = None,
        rows: NDArray[Any] | Collection[int] | None = None,
        exclude: ArrayLike | None = None,
        threads: int | None = None,
        progress: bool = False,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return each query's k rows of greatest score, greatest first, ties by the lower row.

        A score is the exact dot product of the query and the stored vector, both float32, rounded once to float64
        (``components.search.products``). The order is that of these scores, whatever the number of threads.

        Args:
            queries: q × D; other dtypes are rounded to float32.
            k: rows a query; the result has fewer columns if fewer can be found.
            where: conditions on the items, as for :meth:`select`.
            rows: row numbers, or a mask of n; combined with ``where`` by intersection.
            exclude: rows that must not be found: one list for all queries, or q × m, each query's own (−1: none).
            threads: number of cores; None: all available to this process.

        Returns:
            Rows (int64) and scores (float64), q × min(k, rows searched). If a query's own exclusions leave fewer, the rest is
            −1 and −∞.

        Raises:
            HearsightError: queries have another dimension or are not finite, k is below 1, a filter names an unknown value, or
                no row is left to search.
        """
        vectors = check_queries(queries, self.dimension, self.folder)
        count = check_count(k)
        chosen, excluded = self._filtered(where, rows, exclude, len(vectors))
        available = len(self) if chosen is None else len(chosen)
        matrix = Matrix(self.embeddings, self.norms, chosen)
        if excluded is None:
            return scan(matrix, vectors, min(count, available), threads=threads, progress=progress)
        best, scores = scan(matrix, vectors, min(count + excluded.shape[1], available), threads=threads, progress=progress)
        return drop_excluded(best, scores, excluded, min(count, available))

    def _filtered(
        self,
        where: Mapping[str, Any] | None,
        rows: NDArray[Any] | Collection[int] | None,
        exclude: ArrayLike | None,
        queries: int,
    ) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
        """Return the rows to search (None: all), and each query's own exclusions (None: none)."""
        chosen = None if where is None else self.select(where)
        if rows is not None:
            numbers = parse_rows(rows, len(self))
            chosen = numbers if chosen is None else np.intersect1d(chosen, numbers, assume_unique=True)
        excluded = None if exclude is None else np.asarray(exclude)
        if excluded is not None and excluded.ndim < 2:
            mask = np.ones(len(self), bool)
            mask[parse_rows(np.atleast_1d(excluded), len(self))] = False
            chosen = np.flatnonzero(mask) if chosen is None else chosen[mask[chosen]]
            excluded = None
        elif excluded is not None:
            if excluded.ndim != 2 or len(excluded) != queries or excluded.dtype.kind not in "iu":
                what = f"rows to exclude are {excluded.dtype} of shape {excluded.shape} for {queries} queries"
                raise HearsightError(what, where="the filter", hint="give one list of row numbers, or one list a query")
            parse_rows(excluded[excluded != -1], len(self))
        if chosen is not None and not len(chosen):
            raise HearsightError("the filter leaves no row to search", where=self.folder, hint="use a less restrictive filter")
        return chosen, excluded


def check_queries(queries: ArrayLike, dimension: int, where: Path) -> NDArray[np.float32]:
    """Return queries as q × D float32; raise HearsightError if they are not such an array, or not finite."""
    try:
        given = np.asarray(queries)
    except (TypeError, ValueError) as error:
        raise HearsightError("the queries are not numeric", where=where, hint="give queries × dimension") from error
    if given.ndim != 2 or given.shape[1] != dimension or given.dtype.kind not in "fiu":
        what = f"queries are {given.dtype} of shape {given.shape} for an index of dimension {dimension}"
        raise HearsightError(what, where=where, hint=f"give q × {dimension} numbers, computed by the index's model")
    with np.errstate(over="ignore"):
        vectors = np.ascontiguousarray(given, dtype=np.float32)
    if len(invalid := np.flatnonzero(~np.isfinite(vectors).all(axis=1))):
        raise HearsightError(f"query {invalid[0]} holds a number that is not finite", where=where, hint="check what computed it")
    return vectors


def check_count(k: int) -> int:
    """Return k as an int; raise HearsightError unless it is an integer of at least 1."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise HearsightError(f"k is {k!r}", where="the search", hint="use an integer of at least 1")
    return int(k)


def drop_excluded(
    rows: NDArray[np.int64], scores: NDArray[np.float64], excluded: NDArray[np.integer], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the first k rows and scores that are not among each query's exclusions, in order."""
    kept = (rows >= 0) & ~(rows[:, :, None] == excluded[:, None, :]).any(axis=2)
    order = np.argsort(~kept, axis=1, kind="stable")[:, :k]
    valid = np.take_along_axis(kept, order, axis=1)
    return (
        np.where(valid, np.take_along_axis(rows, order, axis=1), -1),
        np.where(valid, np.take_along_axis(scores, order, axis=1), -np.inf),
    )


def select_rows(items: pa.Table, where: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return the rows that fulfil every condition, in order.

    Args:
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
