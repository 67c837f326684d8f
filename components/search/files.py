"""The files of an index: formats, atomic writing, and verified reading.

| file | content |
|---|---|
| ``embeddings.npy`` | n × D, float32, C order, in numpy's format; memory-mapped, never loaded |
| ``norms.npy`` | n, float32: upper bounds of the embeddings' norms |
| ``items.parquet`` | n rows, one an embedding: ``key``, ``kind`` ("image" or "speech"), and the caller's own columns |
| ``index.json`` | version, n, D, rows of each kind, the model's digest, size and sha256 of the other files; written last |
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.files import disk_error, publish, publish_bytes
from components.search.products import norms_above

VERSION = 2
EMBEDDINGS, NORMS, ITEMS, INDEX = "embeddings.npy", "norms.npy", "items.parquet", "index.json"
KINDS = ("image", "speech")
MOST_DIMENSIONS = 1 << 16
LARGEST_NORM = 1e30
ROWS_AT_ONCE = 4096
REBUILD_HINT = "build the index again"


@dataclass(frozen=True)
class Contents:
    """Content of ``index.json``."""

    n: int
    dimension: int
    kinds: dict[str, int]
    model: str
    files: dict[str, dict[str, Any]]
    version: int = VERSION


def build_index(
    folder: Path, embeddings: Iterable[NDArray[np.floating]] | NDArray[np.floating], items: pa.Table, model: str
) -> Contents:
    """Write an index into ``folder``; an existing one becomes invalid at once, until the new one is complete.

    Args:
        embeddings: n × D as one array, or successive arrays of m × D, one in memory at a time. Other dtypes are rounded to
            float32.
        items: n rows in the order of the embeddings, with the columns ``key`` (strings), ``kind``, and any others.
        model: the digest of the model that made the embeddings.

    Raises:
        HearsightError: there is no embedding, one is not finite or too large, their number differs from the items', or the
            dimension changes; the table lacks a column or has an unknown kind; the disk is full.
    """
    kinds = _count_kinds(items, folder)
    if not model:
        raise HearsightError("the model of the embeddings has no digest", where=folder, hint="pass the digest of the model")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / INDEX).unlink(missing_ok=True)
    dimension = 0

    def write(path: Path) -> None:
        nonlocal dimension
        norms = np.empty(items.num_rows, np.float32)
        dimension = _write_embeddings(path, embeddings, norms, folder)
        publish(folder / NORMS, lambda temporary: _save(temporary, norms))

    publish(folder / EMBEDDINGS, write)
    publish(folder / ITEMS, lambda path: pq.write_table(items, path, compression="zstd"))
    try:
        files = {name: describe(folder / name) for name in (EMBEDDINGS, NORMS, ITEMS)}
    except OSError as error:
        raise disk_error(error, folder) from error
    contents = Contents(items.num_rows, dimension, kinds, model, files)
    text = json.dumps(asdict(contents), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    publish_bytes(folder / INDEX, text.encode())
    return contents


def read_contents(folder: Path, model: str | None, *, verify: bool) -> Contents:
    """Return the content of ``index.json``, after a check of the other files.

    Args:
        model: digest of the queries' model; None: any.
        verify: compare the files' sha256; otherwise only their sizes.

    Raises:
        HearsightError: there is no complete index, its version or model differs, or a file is damaged or missing.
    """
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
        raise HearsightError(
            f"is an index of version {values.get('version')!r}; this version of Hearsight reads {VERSION}",
            where=path,
            hint=REBUILD_HINT,
        )
    if model is not None and model != contents.model:
        what = f"is an index of another model ({contents.model[:12]}…) than the queries' ({model[:12]}…)"
        raise HearsightError(what, where=folder, hint=f"search with the model it was built with, or {REBUILD_HINT} with this one")
    if set(contents.files) != {EMBEDDINGS, NORMS, ITEMS} or contents.n < 1 or not 1 <= contents.dimension <= MOST_DIMENSIONS:
        raise HearsightError("is damaged: it does not describe a complete index", where=path, hint=REBUILD_HINT)
    for name, entry in contents.files.items():
        require_whole(folder / name, entry, verify=verify)
    return contents


def require_whole(path: Path, entry: dict[str, Any], *, verify: bool) -> None:
    """Raise HearsightError unless a file has the recorded size and, with ``verify``, sha256."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise HearsightError("is missing from the index", where=path, hint=REBUILD_HINT) from error
    if size != entry.get("bytes"):
        raise HearsightError(f"is damaged: {size} bytes instead of {entry.get('bytes')}", where=path, hint=REBUILD_HINT)
    if verify and sha256_file(path) != entry.get("sha256"):
        raise HearsightError("is damaged: its sha256 differs from the recorded one", where=path, hint=REBUILD_HINT)


def map_array(path: Path, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return a float32 array of a known shape, mapped read-only; raise HearsightError if the file holds another."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise HearsightError("is damaged: not readable as an array", where=path, hint=REBUILD_HINT) from error
    if array.shape != shape or array.dtype != np.dtype("<f4") or not array.flags.c_contiguous:
        raise HearsightError(f"is damaged: {array.dtype} {array.shape} instead of float32 {shape}", where=path, hint=REBUILD_HINT)
    # A plain array over the same pages, since slices of numpy's memmap class are slower.
    return np.asarray(array)


def read_items(path: Path, rows: int) -> pa.Table:
    """Return the table of items; raise HearsightError if it is unreadable or has another length."""
    try:
        table = pq.read_table(path, memory_map=True)
    except (OSError, pa.ArrowException) as error:
        raise HearsightError("is damaged: not readable as a table", where=path, hint=REBUILD_HINT) from error
    if table.num_rows != rows or not {"key", "kind"} <= set(table.column_names):
        raise HearsightError(f"is damaged: {table.num_rows} items, not {rows} with key and kind", where=path, hint=REBUILD_HINT)
    return table


def describe(path: Path) -> dict[str, Any]:
    """Return size and sha256 of a file, as recorded in ``index.json``."""
    return {"bytes": path.stat().st_size, "sha256": sha256_file(path)}


def _count_kinds(items: pa.Table, folder: Path) -> dict[str, int]:
    """Return the number of items of each kind; raise HearsightError for an unsuitable table."""
    for name in ("key", "kind"):
        if name not in items.column_names:
            raise HearsightError(f"the items have no column {name}", where=folder, hint="give each item a key and a kind")
        if items[name].null_count:
            raise HearsightError(f"an item has no {name}", where=folder, hint="give each item a key and a kind")
    if not items.num_rows:
        raise HearsightError("there is no item to index", where=folder, hint="give at least one embedding")
    counts = {str(row["values"]): int(row["counts"]) for row in pc.value_counts(items["kind"]).to_pylist()}
    if unknown := sorted(set(counts) - set(KINDS)):
        raise HearsightError(f"an item has the kind {unknown[0]!r}", where=folder, hint=f"use one of {', '.join(KINDS)}")
    return {kind: counts.get(kind, 0) for kind in KINDS}


def _blocks(embeddings: Iterable[NDArray[np.floating]] | NDArray[np.floating]) -> Iterator[NDArray[np.floating]]:
    for array in [embeddings] if isinstance(embeddings, np.ndarray) else embeddings:
        for start in range(0, max(1, len(array)), ROWS_AT_ONCE):
            yield np.asarray(array[start : start + ROWS_AT_ONCE])


def _write_embeddings(
    path: Path, embeddings: Iterable[NDArray[np.floating]] | NDArray[np.floating], norms: NDArray[np.float32], folder: Path
) -> int:
    """Write the matrix block by block and fill ``norms``; return the dimension."""
    done, dimension = 0, 0
    with path.open("wb") as out:
        for block in _blocks(embeddings):
            if block.ndim != 2 or block.dtype.kind != "f" or (block.shape[0] and not 1 <= block.shape[1] <= MOST_DIMENSIONS):
                what = f"embeddings are {block.dtype} of shape {block.shape}"
                raise HearsightError(what, where=folder, hint="give floating-point numbers, rows × dimension")
            if not len(block):
                continue
            if not dimension:
                dimension = block.shape[1]
                header = {"descr": "<f4", "fortran_order": False, "shape": (len(norms), dimension)}
                np.lib.format.write_array_header_1_0(out, header)
            if block.shape[1] != dimension:
                what = f"embedding {done} has {block.shape[1]} dimensions, those before it {dimension}"
                raise HearsightError(what, where=folder, hint=REBUILD_HINT)
            if done + len(block) > len(norms):
                raise HearsightError(f"more embeddings than the {len(norms)} items", where=folder, hint="give one item each")
            with np.errstate(over="ignore"):
                block = np.ascontiguousarray(block, dtype="<f4")
            norms[done : done + len(block)] = block_norms = norms_above(block)
            if len(invalid := np.flatnonzero(~(block_norms <= LARGEST_NORM))):
                row = block[invalid[0]]
                what = f"has a norm above {LARGEST_NORM:g}" if np.isfinite(row).all() else "holds a number that is not finite"
                what = f"embedding {done + invalid[0]} {what}"
                raise HearsightError(what, where=folder, hint="check the model that computed it")
            out.write(block.data)
            done += len(block)
    if done != len(norms):
        raise HearsightError(f"{done} embeddings for {len(norms)} items", where=folder, hint="give one item each")
    return dimension


def _save(path: Path, array: NDArray[np.float32]) -> None:
    with path.open("wb") as out:
        np.save(out, array, allow_pickle=False)
