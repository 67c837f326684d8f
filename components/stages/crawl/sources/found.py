"""Source pages with their images, and the parquet file that holds the pages of one archive, table or export.

A row of the file is a page (or a table row) in the order of the archive; row groups bound memory on reading. Equal pages give
equal bytes. Out of scope: checking images (``records``).
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
"""Maximum pages of a parquet row group; bounds the memory of a reader."""
IMAGES_PER_GROUP = 20_000
ORIGIN = ("url", "language", "archive", "offset", "owner", "post", "posted", "collected", "note")
"""Fields of :class:`SourcePage` besides its ledger row and images."""
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
    """One page, or one row of a table, with its images and origin."""

    row: dict[str, str] | None
    """Its ledger row; None for a valid table row, whose only ledger row is that of its record."""
    candidates: Sequence[Candidate] = ()
    """Its images by position."""
    url: str = ""
    """Its address; '' for a table row."""
    language: str = "un"
    """ISO 639-1."""
    archive: str = ""
    """Archive or table it was read from, as the run's inputs name it; '' for a live page."""
    offset: int = -1
    """Position there: byte offset in an archive, row number from 1 in a table; -1 for a live page."""
    owner: str = ""
    """Account name of the post's owner, if the source states it."""
    post: str = ""
    """The post's identifier at its source."""
    posted: str = ""
    """Time of posting: ISO 8601 in UTC, or as a table spells it."""
    collected: str = ""
    """Time at which a snapshot first held the post, ISO 8601 UTC."""
    note: str = ""
    """Further facts from a table, for the ledger."""

    @property
    def location(self) -> str:
        """Location of its images for the ledger: the page, and the position in an archive or table."""
        parts = [f"on {self.url}"] if self.url else []
        if self.archive:
            parts.append(f"in {self.archive} at {self.offset}")
        return " ".join(parts) + (f" ({self.note})" if self.note else "")


def record_key(page_url: str, position: int, image_url: str, alt: str) -> str:
    """Return a record's key: 16 hex digits of the sha256 of its content and location.

    A table row has no page; ``<table>:<row>`` takes the place of ``page_url``.
    """
    return hashlib.sha256("\n".join((page_url, str(position), image_url, alt)).encode()).hexdigest()[:16]


def candidate_key(page: SourcePage, candidate: Candidate) -> str:
    """Return the key of the record that an image would become."""
    location = page.url or f"{page.archive}:{page.offset}"
    return record_key(location, candidate.position, candidate.image_url or candidate.source, candidate.alt)


def write_pages(path: Path, pages: Iterable[SourcePage]) -> None:
    """Write pages to a parquet file, one row group at a time."""
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
    """Yield the pages of one file in order, with one row group in memory."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            for page in file.read_row_group(group, use_threads=False).to_pylist():
                candidates = [Candidate(**image) for image in page.pop("images")]
                yield SourcePage(candidates=candidates, **page)
