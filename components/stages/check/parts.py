"""A table in parts of bounded size, for expectations that are validated part by part.

Row labels number the rows of the whole table, or are the values that a derived table is grouped by: sorted labels give the order
of the whole table.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

ROWS = 50_000
"""Rows of a part, about 100 MB with all columns; one shard is one part at least."""
MOST_FILES = 256
"""Files that rows are scattered to, at most; beyond 12.8 million rows the parts of scattered rows grow."""
LABEL = "__label"


@dataclass(frozen=True)
class Parts:
    """A table whose parts can be read again and again."""

    count: int
    """Rows of the table."""
    read: Callable[[], Iterator[pd.DataFrame]]
    """Reads the parts in order."""
    folder: Path
    """Folder for scattered rows, on disk."""
    rows: int = ROWS
    """Rows of a part."""
    single: pd.DataFrame | None = None
    """The whole table if it is one part."""

    def __iter__(self) -> Iterator[pd.DataFrame]:
        return iter([self.single]) if self.single is not None else self.read()

    def together(self, by: Sequence[str], columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Yield frames of ``columns`` such that all rows with equal values of ``by`` are in one frame, in order."""
        if self.single is not None:
            yield self.single
            return
        number = number_of_files(self.count, self.rows)
        yield from (frame for frame in scattered(self.read(), by, columns, number, self.folder) if len(frame))

    def whole(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return ``columns`` of all rows: memory for all of them."""
        return pd.concat([part[[name for name in columns if name in part]] for part in self])


def of_frame(frame: pd.DataFrame, folder: Path) -> Parts:
    """Return a table of one part."""
    return Parts(len(frame), lambda: iter([frame]), folder, single=frame)


def number_of_files(count: int, rows: int) -> int:
    """Return over how many files ``count`` rows are scattered for parts of about ``rows``."""
    return max(1, min(MOST_FILES, -(-count // rows)))


def scattered(
    frames: Iterator[pd.DataFrame], by: Sequence[str], columns: Sequence[str], number: int, folder: Path
) -> Iterator[pd.DataFrame]:
    """Yield ``number`` frames of ``columns``, some may be empty, with equal values of ``by`` in one, in the order that they came.

    Rows are scattered over temporary files in ``folder`` by a hash of ``by``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="check-") as made:
        paths = [Path(made) / str(n) for n in range(number)]
        writers: dict[int, Any] = {}
        schema: pa.Schema | None = None
        try:
            for frame in frames:
                kept = frame[list(dict.fromkeys(columns))]
                kept = kept.assign(**{LABEL: kept.index})
                schema = schema or _schema(kept)
                for n, rows in kept.groupby(_file_of(kept, by, number), sort=False):
                    if n not in writers:
                        writers[n] = pa.ipc.new_stream(str(paths[n]), schema)
                    writers[n].write_table(pa.Table.from_pandas(rows, schema=schema, preserve_index=False))
        finally:
            for writer in writers.values():
                writer.close()
        for n in range(number):
            if n not in writers:
                yield pd.DataFrame(columns=list(columns))
                continue
            with pa.ipc.open_stream(str(paths[n])) as stream:
                frame = stream.read_pandas().set_index(LABEL)
            yield frame.rename_axis(index=None)


def _schema(frame: pd.DataFrame) -> pa.Schema:
    # A part's text column may hold nothing but null.
    kinds = {name: pa.string() if kind.kind == "O" else pa.from_numpy_dtype(kind) for name, kind in frame.dtypes.items()}
    return pa.schema(list(kinds.items()))


def _file_of(frame: pd.DataFrame, by: Sequence[str], number: int) -> Any:
    # Numbers as floats: a column is of integers in one part, and of floats where a part has a null.
    numeric = [name for name in by if frame[name].dtype.kind in "iub"]
    keys = frame[list(by)].astype(dict.fromkeys(numeric, float))
    return (pd.util.hash_pandas_object(keys, index=False, categorize=False) % number).astype(int).to_numpy()
