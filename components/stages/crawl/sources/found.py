"""A page with its images as every source gives it, and the parquet file of the pages of one archive or table.

A row of that file is a page (or one row of a table), in the order of the archive, so that any amount of it is read back in
pieces. Equal pages give equal bytes. Not in scope: judging images (``records``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.records import LEDGER
from components.web.html.page import Candidate

PAGES_PER_GROUP = 2000
"""Pages of a parquet row group at most: what is in memory at a time."""
IMAGES_PER_GROUP = 20_000
ORIGIN = ("url", "language", "archive", "offset", "owner", "post", "posted", "collected", "note")
"""What a page's images share: the fields of :class:`SourcePage` besides its row and images."""
_CANDIDATE = pa.struct(
    [
        pa.field("taken", pa.string(), nullable=False),
        pa.field("image_url", pa.string()),
        pa.field("alt", pa.string(), nullable=False),
        pa.field("position", pa.int32(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("data_uri", pa.bool_(), nullable=False),
        pa.field("has_alt", pa.bool_(), nullable=False),
        pa.field("figcaption", pa.string(), nullable=False),
    ]
)
SCHEMA = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("language", pa.string(), nullable=False),
        pa.field("archive", pa.string(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        *(pa.field(name, pa.string(), nullable=False) for name in ("owner", "post", "posted", "collected")),
        pa.field("note", pa.string(), nullable=False),
        pa.field("row", pa.struct(list(LEDGER)), nullable=True),
        pa.field("images", pa.list_(_CANDIDATE), nullable=False),
    ]
)
"""One :class:`SourcePage`."""


@dataclass(frozen=True)
class SourcePage:
    """One page, or one row of a table, with its images and where they come from."""

    row: dict[str, str] | None
    """Its ledger row; None for a good row of a table, whose only row is its record's."""
    candidates: Sequence[Candidate] = ()
    """Its images, by position."""
    url: str = ""
    """Its address; '' for a row of a table."""
    language: str = "un"
    """ISO 639-1."""
    archive: str = ""
    """The archive or table it was read from, as the run's inputs name it; '' for a live page."""
    offset: int = -1
    """Where in it: bytes into an archive, or the number of a table's row from 1; -1 for a live page."""
    owner: str = ""
    """Whose post it is, where the source tells it."""
    post: str = ""
    """The post's identifier at its source."""
    posted: str = ""
    """When it was posted: ISO 8601 in UTC, or as a table spells it."""
    collected: str = ""
    """When a snapshot first held the post, ISO 8601 UTC."""
    note: str = ""
    """What else a table says of it, for the ledger."""

    @property
    def location(self) -> str:
        """Where its images stand, for the ledger: the page, and the place in an archive or table."""
        parts = [f"on {self.url}"] if self.url else []
        if self.archive:
            parts.append(f"in {self.archive} at {self.offset}")
        return " ".join(parts) + (f" ({self.note})" if self.note else "")


def record_key(page_url: str, position: int, image_url: str, alt: str) -> str:
    """The record's key: 16 hex digits of the sha256 of what it is and where it stands.

    A row of a table has no page: its place, ``<table>:<row>``, stands for one.
    """
    return hashlib.sha256("\n".join((page_url, str(position), image_url, alt)).encode()).hexdigest()[:16]


def candidate_key(page: SourcePage, candidate: Candidate) -> str:
    """The key of the record that an image would be."""
    place = page.url or f"{page.archive}:{page.offset}"
    return record_key(place, candidate.position, candidate.image_url or candidate.source, candidate.alt)


def write_pages(path: Path, pages: Iterable[SourcePage]) -> None:
    """Write pages as they come, a row group at a time."""
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        group: list[dict[str, Any]] = []
        images = 0
        for page in pages:
            origin = {name: getattr(page, name) for name in ORIGIN}
            group.append({**origin, "row": page.row, "images": [vars(candidate) for candidate in page.candidates]})
            images += len(page.candidates)
            if len(group) >= PAGES_PER_GROUP or images >= IMAGES_PER_GROUP:
                writer.write_table(pa.Table.from_pylist(group, schema=SCHEMA))
                group, images = [], 0
        if group:
            writer.write_table(pa.Table.from_pylist(group, schema=SCHEMA))


def read_pages(path: Path) -> Iterator[SourcePage]:
    """The pages of one file, in its order, a row group in memory at a time."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            for page in file.read_row_group(group, use_threads=False).to_pylist():
                candidates = [Candidate(**image) for image in page.pop("images")]
                yield SourcePage(candidates=candidates, **page)
