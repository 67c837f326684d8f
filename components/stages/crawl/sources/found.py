"""What a source finds, page by page, and the parquet file that one archive's or table's findings are kept in.

A row of that file is a page with its images (or one row of a table), in the order of the archive, so that any amount of
it is read back in pieces. Equal findings give equal bytes. Not in scope: judging images (``records``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.records import LEDGER
from components.stages.crawl.walk import Found
from components.web.html.page import Candidate

PAGES_A_GROUP = 2000
"""Pages of a parquet row group at most: what is in memory at a time."""
IMAGES_A_GROUP = 20_000
OF_A_POST = ("owner", "post", "posted", "collected")
"""What a source may tell of the post an image is of."""
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
        *(pa.field(name, pa.string(), nullable=False) for name in OF_A_POST),
        pa.field("note", pa.string(), nullable=False),
        pa.field("row", pa.struct(list(LEDGER)), nullable=True),
        pa.field("images", pa.list_(_CANDIDATE), nullable=False),
    ]
)
"""One page: its address ('' for a row of a table), language, place, owner, ledger row if any, and images."""


@dataclass(frozen=True)
class FoundPage:
    """One page, or one row of a table."""

    row: dict[str, str] | None
    """Its ledger row; None for a good row of a table, whose only row is its record's."""
    found: list[Found] = field(default_factory=list)
    """Its images, by position."""
    url: str = ""
    archive: str = ""
    offset: int = -1


def record_key(page_url: str, position: int, image_url: str, alt: str) -> str:
    """The record's key: 16 hex digits of the sha256 of what it is and where it stands.

    A row of a table has no page: its place, ``<table>:<row>``, stands for one.
    """
    return hashlib.sha256("\n".join((page_url, str(position), image_url, alt)).encode()).hexdigest()[:16]


def key_of(item: Found) -> str:
    """The key of the record that an image would be."""
    candidate = item.candidate
    page = item.page_url or f"{item.archive}:{item.offset}"
    return record_key(page, candidate.position, candidate.image_url or candidate.source, candidate.alt)


def write_found(path: Path, pages: Iterable[FoundPage]) -> None:
    """Write findings as they come, a row group at a time."""
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        group: list[dict[str, Any]] = []
        images = 0
        for page in pages:
            group.append(_plain(page))
            images += len(page.found)
            if len(group) >= PAGES_A_GROUP or images >= IMAGES_A_GROUP:
                writer.write_table(pa.Table.from_pylist(group, schema=SCHEMA))
                group, images = [], 0
        if group:
            writer.write_table(pa.Table.from_pylist(group, schema=SCHEMA))


def read_found(path: Path) -> Iterator[FoundPage]:
    """The findings of one file, in its order, a row group in memory at a time."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            for page in file.read_row_group(group, use_threads=False).to_pylist():
                place = {"archive": page["archive"], "offset": page["offset"]}
                common = {
                    "page_url": page["url"],
                    "language": page["language"],
                    **{name: page[name] for name in OF_A_POST},
                    "note": page["note"],
                    **place,
                }
                images = [Found(taken=image.pop("taken"), candidate=Candidate(**image), **common) for image in page["images"]]
                yield FoundPage(page["row"], images, page["url"], **place)


def _plain(page: FoundPage) -> dict[str, Any]:
    first = page.found[0] if page.found else None
    return {
        "url": page.url,
        "language": first.language if first else "un",
        **{name: getattr(first, name) if first else "" for name in OF_A_POST},
        "note": first.note if first else "",
        "archive": page.archive,
        "offset": page.offset,
        "row": page.row,
        "images": [{**asdict(found.candidate), "taken": found.taken} for found in page.found],
    }
