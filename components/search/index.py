"""The exact index: open one, choose rows, and find for queries the rows of greatest dot product (docs/search.md)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from components.core.errors import HearsightError
from components.search import files
from components.search.files import Contents, build_index
from components.search.filters import parse_rows, select_rows
from components.search.scan import Matrix, scan

__all__ = ["Contents", "SearchIndex", "build_index"]


@dataclass(frozen=True)
class SearchIndex:
    """An opened index.

    Attributes:
        folder: where it lies.
        contents: what ``index.json`` says: n, dimension, rows of each kind, the model's digest.
        embeddings: n × D, float32, mapped into memory.
        norms: n, float32: upper bounds of the embeddings' norms.
        roundings: n, float32: upper bounds of the norms of what rounding to bfloat16 takes from them.
        items: n rows, with ``key``, ``kind`` and what the builder added.
    """

    folder: Path
    contents: Contents
    embeddings: NDArray[np.float32]
    norms: NDArray[np.float32]
    roundings: NDArray[np.float32]
    items: pa.Table

    @classmethod
    def open(cls, folder: Path, model: str | None = None, *, verify: bool = True) -> SearchIndex:
        """Open an index, held to what it says of itself.

        Args:
            folder: the index's.
            model: the digest of the model whose embeddings will be the queries; None: do not ask.
            verify: read every byte and compare digests; without it sizes, shapes and types alone are compared.

        Raises:
            HearsightError: there is no whole index, it is damaged, of another version, or of another model.
        """
        folder = Path(folder)
        contents = files.read_contents(folder, model, verify=verify)
        embeddings = files.map_array(folder / files.EMBEDDINGS, (contents.n, contents.dimension))
        norms, roundings = np.array(files.map_array(folder / files.NORMS, (2, contents.n)))
        return cls(folder, contents, embeddings, norms, roundings, files.read_items(folder / files.ITEMS, contents.n))

    def __len__(self) -> int:
        """How many embeddings it holds."""
        return self.contents.n

    @property
    def dimension(self) -> int:
        """D."""
        return self.contents.dimension

    def select(self, where: Mapping[str, Any]) -> NDArray[np.int64]:
        """The rows whose items fulfil every condition: column → a value, or a collection of values (see ``filters.select``)."""
        return select_rows(self.items, where)

    def item(self, row: int) -> dict[str, Any]:
        """What the builder said of a row."""
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
        """The k rows of greatest score of each query, greatest first, of equal scores the lower row first.

        A score is the exact dot product of the query and the stored vector, both float32, rounded once to float64
        (``components.search.products``). The order is that of these scores, whatever the number of threads.

        Args:
            queries: q × D; numbers of another precision are rounded to float32.
            k: how many rows a query; where fewer can be found the result has fewer columns.
            where: conditions on the items, as for :meth:`select`.
            rows: row numbers, or a mask of n; with ``where``, what both leave.
            exclude: rows never to find: one list for all queries, or q × m, each query's own (−1: none).
            threads: cores to use; None: all this process may use.
            progress: show a bar.

        Returns:
            Rows (int64) and scores (float64), q × min(k, rows there are). Where a query's own exclusions leave it fewer,
            −1 and −∞ at the end.

        Raises:
            HearsightError: queries of another dimension or not finite, k below 1, a filter that names what is not there, or
                nothing left to search.
        """
        wanted = check_queries(queries, self.dimension, self.folder)
        count = check_count(k)
        chosen, own = self._chosen(where, rows, exclude, len(wanted))
        there = len(self) if chosen is None else len(chosen)
        matrix = Matrix(self.embeddings, self.norms, chosen, self.roundings)
        if own is None:
            return scan(matrix, wanted, min(count, there), threads=threads, progress=progress)
        found, scores = scan(matrix, wanted, min(count + own.shape[1], there), threads=threads, progress=progress)
        return drop_excluded(found, scores, own, min(count, there))

    def _chosen(
        self,
        where: Mapping[str, Any] | None,
        rows: NDArray[Any] | Collection[int] | None,
        exclude: ArrayLike | None,
        queries: int,
    ) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
        """The rows to search (None: all), and each query's own exclusions (None: none)."""
        chosen = None if where is None else self.select(where)
        if rows is not None:
            given = parse_rows(rows, len(self))
            chosen = given if chosen is None else np.intersect1d(chosen, given, assume_unique=True)
        own = None if exclude is None else np.asarray(exclude)
        if own is not None and own.ndim < 2:
            mask = np.ones(len(self), bool)
            mask[parse_rows(np.atleast_1d(own), len(self))] = False
            chosen = np.flatnonzero(mask) if chosen is None else chosen[mask[chosen]]
            own = None
        elif own is not None:
            if own.ndim != 2 or len(own) != queries or own.dtype.kind not in "iu":
                raise HearsightError(
                    f"rows to leave out as {own.dtype} {own.shape} for {queries} queries",
                    where="the filter",
                    hint="give one list of row numbers, or one list a query",
                )
            parse_rows(own[own != -1], len(self))
        if chosen is not None and not len(chosen):
            raise HearsightError("the filter leaves no row to search", where=self.folder, hint="ask for less")
        return chosen, own


def check_queries(queries: ArrayLike, dimension: int, where: Path) -> NDArray[np.float32]:
    """Queries as q × D float32 (HearsightError where they are no such thing or not finite)."""
    try:
        given = np.asarray(queries)
    except (TypeError, ValueError) as error:
        raise HearsightError("the queries are no numbers", where=where, hint="give queries × dimension") from error
    if given.ndim != 2 or given.shape[1] != dimension or given.dtype.kind not in "fiu":
        raise HearsightError(
            f"queries of {given.dtype} {given.shape} for an index of dimension {dimension}",
            where=where,
            hint=f"give q × {dimension} numbers, of the model that made the index",
        )
    with np.errstate(over="ignore"):
        wanted = np.ascontiguousarray(given, dtype=np.float32)
    if len(wrong := np.flatnonzero(~np.isfinite(wanted).all(axis=1))):
        raise HearsightError(f"query {wrong[0]} holds a number that is not finite", where=where, hint="look at what made it")
    return wanted


def check_count(k: int) -> int:
    """k as a number of rows (HearsightError below 1 or where it is none)."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise HearsightError(f"k = {k!r} rows were asked for", where="the search", hint="ask for at least one")
    return int(k)


def drop_excluded(
    rows: NDArray[np.int64], scores: NDArray[np.float64], own: NDArray[np.integer], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The first k that are not among each query's own exclusions, in order."""
    kept = (rows >= 0) & ~(rows[:, :, None] == own[:, None, :]).any(axis=2)
    order = np.argsort(~kept, axis=1, kind="stable")[:, :k]
    there = np.take_along_axis(kept, order, axis=1)
    return (
        np.where(there, np.take_along_axis(rows, order, axis=1), -1),
        np.where(there, np.take_along_axis(scores, order, axis=1), -np.inf),
    )
