"""The records of a release as CSV (RFC 4180, UTF-8, with a header), a file for each split.

All kinds of release have these files besides those of their own layout. Metadata, differences between releases and verification
read them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from components.core.errors import HearsightError
from components.tools.release.split_files import SplitTables

FOLDER = "records"
SPLITS = ("train", "validation", "test")


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


def record_tables(folder: Path) -> SplitTables:
    """Return the writer of a release's records."""
    return SplitTables(folder / FOLDER, Record._fields, SPLITS)


def published_text(text: str) -> str:
    """Return a caption as it is published: on one line, without NUL and byte order marks."""
    # A byte order mark at the head of a file would be taken for one.
    return " ".join(text.replace("\ufeff", "").replace("\x00", "").split())


def read_records(folder: Path, split: str) -> Iterator[Record]:
    """Yield the records of a split; errors as for :func:`read_csv`."""
    path = folder / FOLDER / f"{split}.csv"
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
