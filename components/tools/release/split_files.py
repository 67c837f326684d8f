"""A release's files for each split: records and other tables as CSV, and media in shards of bounded size, as tar or Parquet.

All kinds of release have records besides the files of their own layout; metadata and verification read them. Equal rows give
equal bytes. Leaving a writer, which is an exit stack, ends its files. A file is opened at its split's first row; of shards one
for each split is open at a time.
"""

from __future__ import annotations

import csv
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.errors import HearsightError
from components.core.shards import add_member, end_tar

RECORDS = "records"
SPLITS = ("train", "validation", "test")
SHARD_BYTES = 256 << 20
"""Bytes of media after which the next shard of a split begins; several workers can read a set of 1 GB at once."""
GROUP_BYTES, GROUP_ROWS = 32 << 20, 1000
"""Bytes of media, or rows, after which a row group ends, which a reader holds in memory as a whole."""


class Record(NamedTuple):
    """One caption with its image, as published."""

    id: str
    """The record's key; of a post the keyed hash that names its image."""
    split: str
    image: str
    """Web address, or file name relative to the folder of the images."""
    image_sha256: str
    """Of the image as it was crawled; of a post as it is published."""
    language: str
    """ISO 639-1; empty where none is stated."""
    caption: str


class Published(NamedTuple):
    """A released record, and what its image and its speech are found by."""

    record: Record
    media: str
    """The crawl's image: tar shard / member."""
    format: str
    width: int
    height: int


class SplitTables(ExitStack):
    """CSV files with a header (RFC 4180, UTF-8), ``<split>.csv``; those of ``splits`` are there without rows too.

    The rows are in Parquet files too, since programs guess the types of CSV: of names like 0012 numbers, of 'NA' nothing.
    ``numbers`` are the columns of numbers; all others are text.
    """

    def __init__(self, folder: Path, header: Sequence[str], splits: Iterable[str] = (), numbers: Sequence[str] = ()) -> None:
        super().__init__()
        self._folder = folder
        self._kinds = {name: float if name in numbers else str for name in header}
        schema = pa.schema({name: pa.float64() if kind is float else pa.string() for name, kind in self._kinds.items()})
        self._typed = self.enter_context(ParquetShards(folder, schema))
        self._header, self._writers = header, dict[str, Any]()
        for split in splits:
            self._open(split)

    def add(self, split: str, row: Sequence[str]) -> None:
        """Write one row of texts."""
        self._typed.add(split, {name: kind(text) for (name, kind), text in zip(self._kinds.items(), row, strict=True)}, 0)
        (self._writers.get(split) or self._open(split)).writerow(row)

    def _open(self, split: str) -> Any:
        self._folder.mkdir(parents=True, exist_ok=True)
        # The line end is the writer's CRLF, so that it quotes both characters inside fields.
        writer = csv.writer(self.enter_context((self._folder / f"{split}.csv").open("w", encoding="utf-8", newline="")))
        writer.writerow(self._header)
        return self._writers.setdefault(split, writer)


@dataclass
class _Shard:
    """The open shard of a split."""

    name: str
    writer: Any
    bytes: int = 0


class Shards(ExitStack):
    """Files ``<split>-00000`` and so on, of at most :data:`SHARD_BYTES` of media; subclasses open and finish them."""

    suffix: str

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._shards: dict[str, list[_Shard]] = {}
        self.callback(self._finish_all)

    def next(self, split: str, size: int) -> _Shard:
        """Return the split's shard that takes ``size`` more bytes of media."""
        shards = self._shards.setdefault(split, [])
        if not shards or shards[-1].bytes + size > SHARD_BYTES:
            if shards:
                self.finish(shards[-1].writer)
            self._folder.mkdir(parents=True, exist_ok=True)
            name = f"{split}-{len(shards):05d}{self.suffix}"
            shards.append(_Shard(name, self.open(self._folder / name)))
        shards[-1].bytes += size
        return shards[-1]

    def open(self, path: Path) -> Any:
        """Return the writer of a new shard."""
        raise NotImplementedError

    def finish(self, writer: Any) -> None:
        """Finish a shard."""
        writer.close()

    def _finish_all(self) -> None:
        for shards in self._shards.values():
            self.finish(shards[-1].writer)


class TarShards(Shards):
    """WebDataset shards: the members of a sample follow each other."""

    suffix = ".tar"

    def add(self, split: str, members: Mapping[str, bytes]) -> str:
        """Write the members of one sample; return the shard's name."""
        shard = self.next(split, sum(map(len, members.values())))
        for name, data in members.items():
            add_member(shard.writer, name, data)
        return shard.name

    def open(self, path: Path) -> Any:
        """Return the file."""
        return path.open("wb", buffering=1 << 20)

    def finish(self, writer: Any) -> None:
        """Write the end of the archive."""
        end_tar(writer)
        writer.close()


def read_samples(path: Path) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield the key and the members of each sample of a WebDataset shard."""
    with tarfile.open(path, "r:") as tar:
        for key, members in groupby(tar, key=lambda member: member.name.partition(".")[0]):
            yield key, {each.name: tar.extractfile(each).read() for each in members}  # type: ignore[union-attr]


class ParquetShards(Shards):
    """Parquet files; media, the columns of bytes, are neither compressed nor in statistics."""

    suffix = ".parquet"

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        super().__init__(folder)
        self._schema = schema
        empty = BytesIO()
        pq.write_table(schema.empty_table(), empty)
        leaves = [column.path for column in pq.ParquetFile(empty).schema]
        self._text = [leaf for leaf in leaves if not leaf.endswith("bytes")]
        self._codecs = {leaf: "zstd" if leaf in self._text else "none" for leaf in leaves}
        self._groups: dict[str, tuple[list[Mapping[str, Any]], int]] = {}
        """Split → rows that are not yet written, and bytes of their media."""
        self.callback(self._flush_all)

    def add(self, split: str, row: Mapping[str, Any], size: int) -> None:
        """Write one row with ``size`` bytes of media."""
        rows, used = self._groups.setdefault(split, ([], 0))
        rows.append(row)
        self._groups[split] = rows, used + size
        if used + size >= GROUP_BYTES or len(rows) >= GROUP_ROWS:
            self._flush(split)

    def _flush(self, split: str) -> None:
        rows, size = self._groups.pop(split)
        self.next(split, size).writer.write_table(pa.Table.from_pylist(rows, self._schema))

    def open(self, path: Path) -> Any:
        """Return the writer."""
        # Small batches, since the size of a page is looked at after each.
        columns = {"compression": self._codecs, "use_dictionary": self._text, "write_statistics": self._text}
        return pq.ParquetWriter(path, self._schema, **columns, write_batch_size=16)

    def _flush_all(self) -> None:
        for split in list(self._groups):
            self._flush(split)


def record_tables(folder: Path) -> SplitTables:
    """Return the writer of a release's records."""
    return SplitTables(folder / RECORDS, Record._fields, SPLITS)


def published_text(text: str) -> str:
    """Return a caption as it is published: on one line, without NUL and byte order marks."""
    # A byte order mark at the head of a file would be taken for one.
    return " ".join(text.replace("\ufeff", "").replace("\x00", "").split())


def read_records(folder: Path, split: str) -> Iterator[Record]:
    """Yield the records of a split; errors as for :func:`read_csv`."""
    path = folder / RECORDS / f"{split}.csv"
    for number, row in enumerate(read_csv(path, Record._fields), 1):
        record = Record(*(row[name] for name in Record._fields))
        if record.split != split:
            raise HearsightError(f"has a record of the split '{record.split}'", where=f"{path}: row {number}")
        yield record


def read_csv(path: Path, columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file by column name.

    Raises:
        HearsightError: it cannot be read, or a column or field is missing.
    """
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            reader = csv.DictReader(handle, strict=True)
            if missing := [name for name in columns if name not in (reader.fieldnames or ())]:
                raise HearsightError(f"has no column '{missing[0]}'", where=path)
            for row in reader:
                if None in row or None in row.values():
                    raise HearsightError("has another number of fields than its header", where=f"{path}: line {reader.line_num}")
                yield row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise HearsightError(f"cannot be read ({error})", where=path) from None
