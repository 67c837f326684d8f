"""The index on disk: embeddings, and the items they belong to.

| file | content |
|---|---|
| ``embeddings.npy`` | n × D, float32, C order, in numpy's format; memory-mapped, never loaded |
| ``items.parquet`` | n rows, one an embedding: ``key``, ``kind`` ("image" or "speech"), and the caller's own columns |
| ``index.json`` | version, n, D, rows of each kind, the model's digest, size and sha256 of the other files; written last |
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike, NDArray

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.files import disk_error, publish, publish_json
from components.search.nearest import Found, largest_norm, nearest

VERSION = 4
EMBEDDINGS, ITEMS, INDEX = "embeddings.npy", "items.parquet", "index.json"
KINDS = ("image", "speech")
MOST_DIMENSIONS = 1 << 16
LARGEST_NORM = 1e30
REBUILD_HINT = "build the index again"


@dataclass(frozen=True)
class Contents:
    """Content of ``index.json``."""

    n: int
    dimension: int
    kinds: dict[str, int]
    model: str
    largest_norm: float
    """An upper bound of the embeddings' norms."""
    files: dict[str, dict[str, Any]]
    version: int = VERSION


@dataclass(frozen=True)
class SearchIndex:
    """An opened index."""

    folder: Path
    contents: Contents
    embeddings: NDArray[np.float32]
    """n × D, memory-mapped."""
    items: pa.Table
    """n rows, with ``key``, ``kind`` and the builder's columns."""

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
        contents = _read_contents(folder, model, verify=verify)
        try:
            embeddings = _map(folder / EMBEDDINGS)
            items = pq.read_table(folder / ITEMS, memory_map=True)
        except (OSError, ValueError, EOFError, pa.ArrowException) as error:
            raise HearsightError("is damaged: not readable as an index", where=folder, hint=REBUILD_HINT) from error
        if embeddings.shape != (contents.n, contents.dimension) or items.num_rows != contents.n:
            what = f"is damaged: {embeddings.shape} embeddings and {items.num_rows} items, not {contents.n}"
            raise HearsightError(what, where=folder, hint=REBUILD_HINT)
        return cls(folder, contents, embeddings, items)

    def __len__(self) -> int:
        return self.contents.n

    def item(self, row: int) -> dict[str, Any]:
        """Return the record of a row."""
        return dict(self.items.slice(row, 1).to_pylist()[0])

    @cached_property
    def of_kind(self) -> dict[str, NDArray[np.bool_]]:
        """Kind → the mask of its rows."""
        kinds = np.asarray(self.items["kind"].to_pylist())
        return {kind: kinds == kind for kind in KINDS}

    def search(self, queries: ArrayLike, k: int, rows: NDArray[np.bool_] | None = None, *, threads: int | None = None) -> Found:
        """Return each query's rows of greatest dot product, greatest first, ties by the lower row.

        Args:
            queries: q × D.
            k: at least 1.
            rows: a mask of n: the rows to search, at least one; None: all.
            threads: number of cores; None: one a query, at most all of this process.

        Returns:
            Rows and scores, q × min(k, rows searched).

        Raises:
            HearsightError: queries have another dimension or are not finite.
        """
        vectors = self._checked(queries)
        if rows is None:
            return nearest(self.embeddings, vectors, k, largest=self.contents.largest_norm, threads=threads)
        chosen = np.flatnonzero(rows)
        first, past = int(chosen[0]), int(chosen[-1]) + 1
        # Neighbouring rows are read in place.
        among = self.embeddings[first:past] if past - first == len(chosen) else self.embeddings[chosen]
        places, scores = nearest(among, vectors, k, largest=self.contents.largest_norm, threads=threads)
        return chosen[places], scores

    def _checked(self, queries: ArrayLike) -> NDArray[np.float32]:
        given = np.asarray(queries)
        if given.ndim != 2 or given.shape[1] != self.contents.dimension or given.dtype.kind not in "fiu":
            what = f"queries are {given.dtype} of shape {given.shape} for an index of dimension {self.contents.dimension}"
            raise HearsightError(what, where=self.folder, hint="give queries × dimension, computed by the index's model")
        with np.errstate(over="ignore"):
            vectors = np.ascontiguousarray(given, dtype=np.float32)
        if not np.isfinite(vectors).all():
            raise HearsightError("a query holds a number that is not finite", where=self.folder, hint="check what computed it")
        return vectors


def build_index(
    folder: Path,
    embeddings: Iterable[NDArray[np.floating]] | NDArray[np.floating],
    items: pa.Table,
    model: str,
) -> Contents:
    """Write an index into ``folder``; an existing one becomes invalid at once, until the new one is complete.

    Args:
        embeddings: n × D as one array, or successive arrays of m × D, one in memory at a time; written as float32.
        items: n rows in the order of the embeddings, with the columns ``key`` (strings), ``kind``, and any others.
        model: the digest of the model that made the embeddings.

    Raises:
        HearsightError: there is no embedding, one is not finite or too large, their number differs from the items', or the
            dimension changes; an item has no key or an unknown kind; the disk is full.
    """
    kinds = items["kind"].to_pylist() if {"key", "kind"} <= set(items.column_names) else []
    if not kinds or set(kinds) - set(KINDS) or items["key"].null_count:
        what = f"there is no item, or one without a key or one of the kinds {', '.join(KINDS)}"
        raise HearsightError(what, where=folder, hint="give each embedding an item with both")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / INDEX).unlink(missing_ok=True)
    written: list[tuple[int, float]] = []
    arrays = [embeddings] if isinstance(embeddings, np.ndarray) else embeddings
    publish(folder / EMBEDDINGS, lambda path: written.append(_write_embeddings(path, arrays, len(kinds), folder)))
    publish(folder / ITEMS, lambda path: pq.write_table(items, path, compression="zstd"))
    dimension, largest = written[0]
    counts = {kind: kinds.count(kind) for kind in KINDS}
    contents = Contents(len(kinds), dimension, counts, model, largest, {})
    try:
        files = {
            name: {"bytes": (folder / name).stat().st_size, "sha256": sha256_file(folder / name)} for name in (EMBEDDINGS, ITEMS)
        }
    except OSError as error:
        raise disk_error(error, folder) from error
    contents = replace(contents, files=files)
    publish_json(folder / INDEX, asdict(contents))
    return contents


def _write_embeddings(path: Path, arrays: Iterable[NDArray[np.floating]], rows: int, folder: Path) -> tuple[int, float]:
    """Write the matrix array by array; return the dimension and the largest norm."""
    done, dimension, largest = 0, 0, 0.0
    with path.open("wb") as out:
        for array in arrays:
            if array.ndim != 2 or array.dtype.kind != "f" or not 1 <= array.shape[1] <= MOST_DIMENSIONS:
                what = f"embeddings are {array.dtype} of shape {array.shape}"
                raise HearsightError(what, where=folder, hint="give floating-point numbers, rows × dimension")
            if not dimension:
                dimension = array.shape[1]
                header = {"descr": "<f4", "fortran_order": False, "shape": (rows, dimension)}
                np.lib.format.write_array_header_1_0(out, header)
            if array.shape[1] != dimension:
                what = f"embedding {done} has {array.shape[1]} dimensions, those before it {dimension}"
                raise HearsightError(what, where=folder, hint=REBUILD_HINT)
            if not len(array):
                continue
            with np.errstate(over="ignore"):
                block = np.ascontiguousarray(array, dtype="<f4")
            if not (norm := largest_norm(block)) <= LARGEST_NORM:
                among = f"embeddings {done} to {done + len(block) - 1}"
                what = f"one of the {among} is not finite, or its norm is above {LARGEST_NORM:g}"
                raise HearsightError(what, where=folder, hint="check the model that computed it")
            out.write(block.data)
            done, largest = done + len(block), max(largest, norm)
    if done != rows:
        raise HearsightError(f"{done} embeddings for {rows} items", where=folder, hint="give one item each")
    return dimension, largest


def _map(path: Path) -> NDArray[np.float32]:
    """Return a matrix mapped read-only; raise ValueError if the file holds another array."""
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.ndim != 2 or array.dtype != np.dtype("<f4") or not array.flags.c_contiguous:
        raise ValueError(f"{path} holds no float32 matrix")
    # A plain array over the same pages, since slices of numpy's memmap class are slower.
    return np.asarray(array)


def _read_contents(folder: Path, model: str | None, *, verify: bool) -> Contents:
    """Return the content of ``index.json``, after a check of the other files; arguments and errors as for the opening."""
    path = folder / INDEX
    try:
        values = json.loads(path.read_bytes())
        contents = Contents(**values) if values.get("version") == VERSION else None
    except FileNotFoundError:
        state = "an index that was not finished" if (folder / EMBEDDINGS).exists() else "no index"
        raise HearsightError(f"holds {state}", where=folder, hint=REBUILD_HINT) from None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise HearsightError("is damaged: not readable as the description of an index", where=path, hint=REBUILD_HINT) from error
    if contents is None:
        what = f"is an index of version {values.get('version')!r}; this version of Hearsight reads {VERSION}"
        raise HearsightError(what, where=path, hint=REBUILD_HINT)
    if model is not None and model != contents.model:
        what = f"is an index of another model ({contents.model[:12]}…) than the queries' ({model[:12]}…)"
        raise HearsightError(what, where=folder, hint=f"search with the model it was built with, or {REBUILD_HINT} with this one")
    if set(contents.files) != {EMBEDDINGS, ITEMS}:
        raise HearsightError("is damaged: it does not describe a complete index", where=path, hint=REBUILD_HINT)
    for name, entry in contents.files.items():
        file = folder / name
        if not file.is_file():
            raise HearsightError("is missing from the index", where=file, hint=REBUILD_HINT)
        if file.stat().st_size != entry.get("bytes") or (verify and sha256_file(file) != entry.get("sha256")):
            raise HearsightError("is damaged: its size or sha256 differs from the recorded one", where=file, hint=REBUILD_HINT)
    return contents
