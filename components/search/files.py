"""An index on disk: what its files are, writing them so that half an index is never taken for one, and reading them.

| file | what |
|---|---|
| ``embeddings.npy`` | n × D, float32, C order, as numpy writes it: mapped into memory, never loaded |
| ``norms.npy`` | 2 × n, float32: upper bounds of the norms of the embeddings, and of what bfloat16 takes from them (``rough``) |
| ``items.parquet`` | n rows, one an embedding: ``key``, ``kind`` ("image" or "speech"), and the caller's own columns |
| ``index.json`` | version, n, D, rows of each kind, the model's digest, size and sha256 of the other files; written last |
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.files import disk_error, publish, publish_bytes
from components.search.products import norms_above
from components.search.rough import roundings_above

VERSION = 1
EMBEDDINGS, NORMS, ITEMS, INDEX = "embeddings.npy", "norms.npy", "items.parquet", "index.json"
KINDS = ("image", "speech")
MOST_DIMENSIONS = 1 << 16
LARGEST_NORM = 1e30
ROWS_AT_ONCE = 4096
AGAIN = "build the index again"


@dataclass(frozen=True)
class Contents:
    """What ``index.json`` says."""

    n: int
    dimension: int
    kinds: dict[str, int]
    model: str
    files: dict[str, dict[str, Any]]
    version: int = VERSION


def build_index(
    folder: Path, embeddings: Iterable[NDArray[np.floating]] | NDArray[np.floating], items: pa.Table, model: str
) -> Contents:
    """Write an index into ``folder``; one that was there is no index from the first moment until the new one is whole.

    Args:
        folder: made when it is not there.
        embeddings: n × D as one array, or arrays of m × D one after another, of which one is held at a time. Numbers of
            another precision are rounded to float32.
        items: n rows, in the order of the embeddings, with the columns ``key`` (strings) and ``kind``, and any others.
        model: the digest of the model that made the embeddings.

    Raises:
        HearsightError: there is no embedding, one is not finite or too large, not as many as items, of changing dimension;
            the table lacks a column or names another kind; the disk is full.
    """
    kinds = _counted(items, folder)
    if not model:
        raise HearsightError("the model of the embeddings has no digest", where=folder, hint="say which model made them")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / INDEX).unlink(missing_ok=True)
    dimension = 0

    def write(path: Path) -> None:
        nonlocal dimension
        norms = np.empty((2, items.num_rows), np.float32)
        dimension = _write_embeddings(path, embeddings, norms, folder)
        publish(folder / NORMS, lambda temporary: _save(temporary, norms))

    publish(folder / EMBEDDINGS, write)
    publish(folder / ITEMS, lambda path: pq.write_table(items, path, compression="zstd"))
    files = {name: _described(folder / name) for name in (EMBEDDINGS, NORMS, ITEMS)}
    contents = Contents(items.num_rows, dimension, kinds, model, files)
    text = json.dumps(asdict(contents), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    publish_bytes(folder / INDEX, text.encode())
    return contents


def read_contents(folder: Path, model: str | None, *, verify: bool) -> Contents:
    """What a whole index says of itself, after its files were held to it.

    Args:
        folder: the index's.
        model: the digest of the model whose queries are coming; None: any.
        verify: compare the files' sha256; otherwise their sizes alone.

    Raises:
        HearsightError: there is no index, it is of another version or of another model, or a file is damaged or missing.
    """
    path = folder / INDEX
    try:
        told = json.loads(path.read_bytes())
        contents = Contents(**told) if told.get("version") == VERSION else None
    except FileNotFoundError:
        whether = "an index that was not finished" if (folder / EMBEDDINGS).exists() else "no index"
        raise HearsightError(f"holds {whether}", where=folder, hint=AGAIN) from None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise HearsightError("is damaged: it cannot be read as an index's description", where=path, hint=AGAIN) from error
    if contents is None:
        raise HearsightError(
            f"is an index of version {told.get('version')!r}; this version of Hearsight reads {VERSION}", where=path, hint=AGAIN
        )
    if model is not None and model != contents.model:
        raise HearsightError(
            f"is an index of another model: {contents.model[:12]}…, and the queries are of {model[:12]}…",
            where=folder,
            hint=f"search with the model it was built with, or {AGAIN} with this one",
        )
    if set(contents.files) != {EMBEDDINGS, NORMS, ITEMS} or contents.n < 1 or not 1 <= contents.dimension <= MOST_DIMENSIONS:
        raise HearsightError("is damaged: it describes no whole index", where=path, hint=AGAIN)
    for name, entry in contents.files.items():
        require_whole(folder / name, entry, verify=verify)
    return contents


def require_whole(path: Path, entry: dict[str, Any], *, verify: bool) -> None:
    """Hold a file to its size, and with ``verify`` to its sha256 (HearsightError where it is another)."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise HearsightError("is missing from the index", where=path, hint=AGAIN) from error
    if size != entry.get("bytes"):
        raise HearsightError(f"is damaged: {size} bytes instead of {entry.get('bytes')}", where=path, hint=AGAIN)
    if verify and sha256_file(path) != entry.get("sha256"):
        raise HearsightError("is damaged: its content is not what was built", where=path, hint=AGAIN)


def map_array(path: Path, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """A float32 array of a known shape, mapped read-only (HearsightError where the file holds another)."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise HearsightError("is damaged: it cannot be read as an array", where=path, hint=AGAIN) from error
    if found.shape != shape or found.dtype != np.dtype("<f4") or not found.flags.c_contiguous:
        raise HearsightError(f"is damaged: {found.dtype} {found.shape} instead of float32 {shape}", where=path, hint=AGAIN)
    # A plain array over the same pages: numpy's memmap class makes every slice more expensive.
    return np.asarray(found)


def read_items(path: Path, rows: int) -> pa.Table:
    """The items' table (HearsightError where it cannot be read or is of another length)."""
    try:
        table = pq.read_table(path, memory_map=True)
    except (OSError, pa.ArrowException) as error:
        raise HearsightError("is damaged: it cannot be read as a table", where=path, hint=AGAIN) from error
    if table.num_rows != rows or not {"key", "kind"} <= set(table.column_names):
        raise HearsightError(f"is damaged: {table.num_rows} items, not {rows} with key and kind", where=path, hint=AGAIN)
    return table


def describe(path: Path) -> dict[str, Any]:
    """Size and sha256 of a file, as ``index.json`` keeps them."""
    return {"bytes": path.stat().st_size, "sha256": sha256_file(path)}


def _counted(items: pa.Table, folder: Path) -> dict[str, int]:
    for name in ("key", "kind"):
        if name not in items.column_names:
            raise HearsightError(f"the items have no column {name}", where=folder, hint="give each a key and a kind")
        if items[name].null_count:
            raise HearsightError(f"an item has no {name}", where=folder, hint="give each a key and a kind")
    if not items.num_rows:
        raise HearsightError("there is nothing to search: no item", where=folder, hint="give at least one embedding")
    counts = {str(each["values"]): int(each["counts"]) for each in pc.value_counts(items["kind"]).to_pylist()}
    if others := sorted(set(counts) - set(KINDS)):
        raise HearsightError(f"an item is of kind {others[0]!r}", where=folder, hint=f"a kind is one of {', '.join(KINDS)}")
    return {kind: counts.get(kind, 0) for kind in KINDS}


def _blocks(embeddings: Iterable[NDArray[np.floating]] | NDArray[np.floating]) -> Iterator[NDArray[np.floating]]:
    """Pieces of at most ROWS_AT_ONCE rows."""
    for array in [embeddings] if isinstance(embeddings, np.ndarray) else embeddings:
        for start in range(0, max(1, len(array)), ROWS_AT_ONCE):
            yield np.asarray(array[start : start + ROWS_AT_ONCE])


def _write_embeddings(
    path: Path, embeddings: Iterable[NDArray[np.floating]] | NDArray[np.floating], norms: NDArray[np.float32], folder: Path
) -> int:
    """Write the matrix as it comes, and its norms into ``norms``; the dimension."""
    done, dimension = 0, 0
    with path.open("wb") as out:
        for block in _blocks(embeddings):
            if block.ndim != 2 or block.dtype.kind != "f" or (block.shape[0] and not 1 <= block.shape[1] <= MOST_DIMENSIONS):
                raise HearsightError(
                    f"embeddings of {block.dtype} {block.shape}",
                    where=folder,
                    hint="give floating-point numbers, rows × dimension",
                )
            if not len(block):
                continue
            if not dimension:
                dimension = block.shape[1]
                _header(out, (norms.shape[1], dimension))
            if block.shape[1] != dimension:
                raise HearsightError(
                    f"embedding {done} has {block.shape[1]} dimensions, those before it {dimension}", where=folder, hint=AGAIN
                )
            if done + len(block) > norms.shape[1]:
                raise HearsightError(f"more embeddings than the {norms.shape[1]} items", where=folder, hint="give one item each")
            with np.errstate(over="ignore"):
                block = np.ascontiguousarray(block, dtype="<f4")
            norms[0, done : done + len(block)] = found = norms_above(block)
            if len(wrong := np.flatnonzero(~(found <= LARGEST_NORM))):
                row = block[wrong[0]]
                what = f"has a norm above {LARGEST_NORM:g}" if np.isfinite(row).all() else "holds a number that is not finite"
                raise HearsightError(f"embedding {done + wrong[0]} {what}", where=folder, hint="look at the model that made it")
            norms[1, done : done + len(block)] = roundings_above(block)
            out.write(block.data)
            done += len(block)
    if done != norms.shape[1]:
        raise HearsightError(f"{done} embeddings for {norms.shape[1]} items", where=folder, hint="give one item each")
    return dimension


def _header(out: IO[bytes], shape: tuple[int, int]) -> None:
    np.lib.format.write_array_header_1_0(out, {"descr": "<f4", "fortran_order": False, "shape": shape})


def _save(path: Path, array: NDArray[np.float32]) -> None:
    with path.open("wb") as out:
        np.save(out, array, allow_pickle=False)


def _described(path: Path) -> dict[str, Any]:
    try:
        return describe(path)
    except OSError as error:
        raise disk_error(error, path) from error
