"""Source pages with their images, how they are taken down, and the parquet file that holds those of one archive, table or export.

A row of the file is a page (or a table row) in the order of the archive; row groups bound memory on reading. Equal pages give
equal bytes. Archives and tables are taken down before they are stored, so no cache holds what is listed.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.digests import sha256_bytes
from components.core.ledger import dropped
from components.core.record_fields import CONTEXT
from components.core.records import LEDGER
from components.execution.stage import Stage
from components.web.answers import Answers
from components.web.consent.statements import Statement
from components.web.fetch import Fetcher
from components.web.html.context import Context, from_row, to_row
from components.web.html.page import Candidate
from components.web.redaction import redact, redact_row
from components.web.takedown_list import Takedown, takedown_row
from components.web.urls import host_of

PAGES_PER_GROUP = 2000
"""Maximum pages of a parquet row group; bounds the memory of a reader."""
IMAGES_PER_CHUNK = 20_000
"""Approximate number of images that are checked, fetched and written together, and of a row group; bounds memory."""
MAX_SHOWN_ADDRESS = 2048
"""Characters of an address that is shown in full. A truncated one could neither be searched for nor matched by a takedown."""
MAX_SHOWN_TEXT = 300
"""Characters kept of page text that stands in place of an address."""
ORIGIN = ("url", "language", "archive", "offset", "owner", "post", "posted", "collected", "note")
"""Fields of :class:`SourcePage` besides its ledger row, statements and images."""
_TEXT = pa.string()


def _required(**types: pa.DataType) -> list[pa.Field]:
    return [pa.field(name, kind, nullable=False) for name, kind in types.items()]


_CANDIDATE = pa.struct(
    [
        *_required(taken=_TEXT),
        pa.field("image_url", _TEXT),
        *_required(alt=_TEXT, position=pa.int32(), source=_TEXT, data_uri=pa.bool_(), has_alt=pa.bool_(), figcaption=_TEXT),
        pa.field("context", CONTEXT),
    ]
)
SCHEMA = pa.schema(
    [
        *_required(url=_TEXT, language=_TEXT, archive=_TEXT, offset=pa.int64()),
        *_required(owner=_TEXT, post=_TEXT, posted=_TEXT, collected=_TEXT, note=_TEXT),
        pa.field("row", pa.struct(list(LEDGER))),
        *_required(statements=pa.list_(pa.struct(_required(signal=_TEXT, place=_TEXT, text=_TEXT)))),
        *_required(images=pa.list_(_CANDIDATE)),
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
    statements: Sequence[Statement] = ()
    """What its headers and tags state about its use."""

    @classmethod
    def drop(cls, key: str, rule: str, value: str, threshold: object, detail: str = "", **origin: Any) -> SourcePage:
        """Return a page without images: only the ledger row that drops it, and its origin."""
        return cls(dropped(key, rule, value, threshold, kind="page", detail=detail), **origin)

    @property
    def location(self) -> str:
        """Location of its images for the ledger: the page, and the position in an archive or table."""
        parts = [f"on {self.url}"] if self.url else []
        if self.archive:
            parts.append(f"in {self.archive} at {self.offset}")
        return " ".join(parts) + (f" ({self.note})" if self.note else "")


class Source(ABC):
    """One way to find pages with images."""

    of_sites: ClassVar[bool] = False
    """Whether its images are on pages of sites, over which alt-texts are counted."""
    hidden: Collection[str] = frozenset()
    """Hashes of the URLs of answers that belong to taken-down accounts only; known once the pages were read."""

    def __init__(self, stage: Stage, params: Any, home: Path, snapshot: Path, taken: Takedown) -> None:
        """Create the source that ``params.source`` sets; ``home``: the project's folder, ``snapshot``: that of the answers."""
        self.stage, self.params, self.source = stage, params, params.source
        self.home, self.snapshot, self.taken = home, snapshot, taken

    @abstractmethod
    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Yield the pages in a fixed order; with a fetcher, fetch what the snapshot lacks on the way.

        Raises:
            HearsightError: an input is missing or not what the parameters state.
            NotFetched: without a fetcher, the snapshot lacks an answer.
        """

    def fetch_images(self, urls: Collection[str], live: Fetcher) -> None:
        """Request the images, from any host; the last outcomes may arrive with later calls."""
        live.ensure(urls, "image", None, "images", wait=False)

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return what the snapshot's ``COMPLETE`` file states about the source."""

    def digest(self, snapshot: str) -> str:
        """Return the digest of everything the records depend on: that of the snapshot and those of the files read, if any."""
        return snapshot


def describe_location(page: SourcePage, candidate: Candidate) -> str:
    """Return an image's address, page and position in an archive or table, as ledger rows state them, of bounded length."""
    address, location = candidate.image_url, page.location
    if len(location) > MAX_SHOWN_ADDRESS:
        location = (location.replace(page.url, _shorten(page.url)) if page.url else location)[
            : MAX_SHOWN_ADDRESS + MAX_SHOWN_TEXT
        ]
    return f"{_shorten(address) if address else candidate.source[:MAX_SHOWN_TEXT]} {location}".strip()


def _shorten(address: str) -> str:
    """Return the address; scheme, host and length of one over ``MAX_SHOWN_ADDRESS``."""
    if len(address) <= MAX_SHOWN_ADDRESS:
        return address
    return f"{address.partition(':')[0][:8]}://{host_of(address)[:MAX_SHOWN_TEXT]}/… ({len(address)} characters)"


def record_key(page_url: str, position: int, image_url: str, alt: str) -> str:
    """Return a record's key: 16 hex digits of the sha256 of its content and location.

    A table row has no page; ``<table>:<row>`` takes the place of ``page_url``.
    """
    return hashlib.sha256("\n".join((page_url, str(position), image_url, alt)).encode()).hexdigest()[:16]


def candidate_key(page: SourcePage, candidate: Candidate) -> str:
    """Return the key of the record that an image would become."""
    location = page.url or f"{page.archive}:{page.offset}"
    return record_key(location, candidate.position, candidate.image_url or candidate.source, candidate.alt)


def chunk_pages(pages: Iterable[SourcePage], max_pages: int = IMAGES_PER_CHUNK) -> Iterator[list[SourcePage]]:
    """Yield the pages in chunks of about ``IMAGES_PER_CHUNK`` images and at most ``max_pages`` pages."""
    chunk: list[SourcePage] = []
    size = 0
    for page in pages:
        chunk.append(page)
        size += 1 + len(page.candidates)
        if size >= IMAGES_PER_CHUNK or len(chunk) >= max_pages:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def write_pages(path: Path, pages: Iterable[SourcePage]) -> None:
    """Write pages to a parquet file, one row group at a time."""
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        for group in chunk_pages(pages, PAGES_PER_GROUP):
            rows = [
                {name: getattr(page, name) for name in ORIGIN}
                | {
                    "row": page.row,
                    "statements": [asdict(statement) for statement in page.statements],
                    "images": [vars(candidate) | {"context": to_row(candidate.context)} for candidate in page.candidates],
                }
                for page in group
            ]
            writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))


def read_pages(path: Path) -> Iterator[SourcePage]:
    """Yield the pages of one file in order, with one row group in memory."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            for page in file.read_row_group(group, use_threads=False).to_pylist():
                candidates = [Candidate(**image | {"context": from_row(image["context"])}) for image in page.pop("images")]
                statements = tuple(Statement(**statement) for statement in page.pop("statements"))
                yield SourcePage(candidates=candidates, statements=statements, **page)


def find_takedown_mark(page: SourcePage, candidate: Candidate, taken: Takedown) -> str:
    """Return the hash of the entry that lists an image by page, address or owner; '' for none."""
    return taken.url(page.url) or taken.url(candidate.image_url or "") or taken.owner(page.owner)


def hash_address(url: str | None) -> str:
    """Return the hash that stands for the address of an image that only a listed page or row may refer to."""
    return sha256_bytes((url or "").encode())


def redact_page(page: SourcePage, taken: Takedown) -> SourcePage:
    """Return the page with listed content replaced by hashes; each listed image keeps the key of its record."""
    if not taken:
        return page
    mark = taken.url(page.url)
    url = taken.mask(page.url) if mark else page.url
    row = takedown_row(url, mark, kind="page") if mark else redact_row(page.row, taken) if page.row else None
    candidates = [_redact_candidate(page, candidate, taken) for candidate in page.candidates]
    statements = redact_statements(() if mark else page.statements, taken)
    page = replace(page, row=row, candidates=candidates, url=url, statements=statements)
    if all(candidate.taken for candidate in candidates):
        return replace(page, owner="", post="", posted="", collected="", note="")
    return replace(page, note=redact(page.note, taken))


def redact_statements(statements: Iterable[Statement], taken: Takedown) -> list[Statement]:
    """Return the statements with every listed address replaced by its placeholder."""
    return [replace(statement, text=redact(statement.text, taken)) if taken else statement for statement in statements]


def _redact_candidate(page: SourcePage, candidate: Candidate, taken: Takedown) -> Candidate:
    if mark := find_takedown_mark(page, candidate, taken):
        stands_for = f"{candidate_key(page, candidate)} {mark} {hash_address(candidate.image_url)}"
        return Candidate(image_url=None, alt="", position=candidate.position, source="", taken=stands_for)
    return replace(candidate, source=redact(candidate.source, taken), context=redact_context(candidate.context, taken))


def redact_context(context: Context | None, taken: Takedown) -> Context | None:
    """Return the context with every listed address replaced by its placeholder."""
    if context is None or not taken:
        return context
    texts: dict[str, Any] = {
        name: redact(text, taken) for name in ("heading", "link_text", "link_url") if (text := getattr(context, name))
    }
    return replace(context, **texts)
