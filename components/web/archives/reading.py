"""An archive read: its records become pages with candidates, and what cannot be read becomes failures."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from components.web.archives.expansion import Expansion
from components.web.archives.findings import ArchivePage
from components.web.archives.kinds import ZIP
from components.web.archives.opening import PeekedStream, Stream, open_archive, open_seekable
from components.web.archives.records import Record, read_records
from components.web.archives.responses import PAGE_LIMIT, BadResponse, parse_response
from components.web.archives.wacz import iter_inner_files
from components.web.archives.wat import DESCRIBED, BadMetadata, read_wat_page
from components.web.budget import Budget
from components.web.html.language import UNKNOWN
from components.web.html.page import Page, PageOverBudget
from components.web.html.page_limits import Source, read_in_child
from components.web.html.pairs import read_tags, read_tags_or_tree

_log = logging.getLogger(__name__)


def read_archive(
    path: str, *, context: bool = True, limit: int = PAGE_LIMIT, budget: Budget | None = None
) -> Iterator[ArchivePage]:
    """The pages of a WARC or WAT file, gzip, zstd or plain, or of a WACZ, and a failure for every part that cannot be read.

    A page is an HTML response with a 2xx status, or the metadata record that describes one. Equal bytes give equal results,
    in their order.

    Args:
        path: a file, ``-``, ``s3://bucket/key`` or an http(s) address.
        context: whether the text of pages is read for their language and figcaptions; see ``read_fast``.
        limit: bytes of a record and of a page, decompressed.
        budget: what reading one page may cost; None for no limits.

    Raises:
        HearsightError: the archive is missing or may not be read.
    """
    with open_archive(path) as stream:
        yield from read_stream(stream, path, context=context, limit=limit, budget=budget)


def read_stream(
    stream: Stream, archive: str, *, context: bool = True, limit: int = PAGE_LIMIT, budget: Budget | None = None
) -> Iterator[ArchivePage]:
    """As ``read_archive``, of bytes already open."""
    ahead = stream if isinstance(stream, PeekedStream) else PeekedStream(stream)
    reader = _Reader(archive, "", context, limit, budget, Expansion())
    if not ahead.head.startswith(ZIP):
        yield from reader.pages(ahead)
        return
    with open_seekable(ahead, archive) as file:
        for inner in iter_inner_files(file, archive):
            reader.expansion.scale = inner.scale
            one = replace(reader, archive=f"{archive}/{inner.name}", inner=inner.name)
            yield from one.pages(inner)
            if inner.fault:
                yield ArchivePage("", [], UNKNOWN, False, one.archive, 0, "bad_zip", inner.fault, inner.name)


PAGES_A_BATCH, BYTES_A_BATCH = 64, 1 << 24
"""Pages that need their tree, and about how many bytes of them, that one child process reads."""


class _Waiting(NamedTuple):
    """A page that is read later, with others."""

    source: Source
    offset: int
    refused: bool
    """Its headers ask for it to be kept out of collections."""


@dataclass(frozen=True)
class _Reader:
    """How the records of one WARC or WAT are read."""

    archive: str
    inner: str
    context: bool
    limit: int
    budget: Budget | None
    expansion: Expansion

    def pages(self, stream: Stream) -> Iterator[ArchivePage]:
        """The pages and failures, in order."""
        queue: list[ArchivePage | _Waiting] = []
        count = size = 0
        for record in read_records(stream, self.limit, self.expansion):
            found = self._found(record)
            if found is None:
                continue
            if isinstance(found, _Waiting):
                count, size = count + 1, size + len(found.source.html)
            elif not count:
                yield found
                continue
            queue.append(found)
            if count >= PAGES_A_BATCH or size >= BYTES_A_BATCH:
                yield from self._finished(queue)
                queue.clear()
                count = size = 0
        yield from self._finished(queue)

    def _finished(self, queue: Sequence[ArchivePage | _Waiting]) -> Iterator[ArchivePage]:
        """The pages of a queue in its order, those that waited among them."""
        sources = [item.source for item in queue if isinstance(item, _Waiting)]
        outcomes: Iterator[Page | Exception] = iter(())
        if sources and self.budget is not None:
            outcomes = iter(
                read_in_child(partial(read_tags_or_tree, context=self.context, budget=self.budget), sources, self.budget)
            )
        for item in queue:
            if isinstance(item, ArchivePage):
                yield item
                continue
            url, page = item.source.url, next(outcomes)
            if isinstance(page, Exception):
                yield self._failure(url, item.offset, page)
            else:
                yield self._read(url, item.offset, item.refused, page)

    def _found(self, record: Record) -> ArchivePage | _Waiting | None:
        """What a record gives; None when it is no page."""
        try:
            if record.fault:
                raise BadResponse(record.fault, record.detail)
            kind = record.type
            if kind == b"response":
                return self._response(record)
            if kind == b"metadata" and record.headers.get(b"content-type", b"").startswith(b"application/json"):
                return self._described(record)
        except Exception as error:
            return self._failure(record.url, record.offset, error)
        return None

    def _response(self, record: Record) -> ArchivePage | _Waiting | None:
        if not record.block.startswith(b"HTTP/"):
            if record.headers.get(b"content-type", b"").startswith(b"application/http"):
                raise BadResponse("bad_record", "the HTTP response has no status line")
            return None  # dns: and ftp: answers are responses, too
        response = parse_response(record.block)
        if not 200 <= response.status < 300 or not response.html:
            return None
        url, offset, refused = record.url, record.offset, response.noindex
        source = Source(response.body(self.limit), url, response.charset)
        if self.budget is None:
            return self._read(url, offset, refused, read_tags_or_tree(source, self.context, None))
        page = read_tags(source, self.context, self.budget)
        return _Waiting(source, offset, refused) if page is None else self._read(url, offset, refused, page)

    def _described(self, record: Record) -> ArchivePage | None:
        if DESCRIBED not in record.block:
            return None
        url = record.url
        page = read_wat_page(record.block, url)
        if page and self.budget and len(page.candidates) > self.budget.page_images:
            raise PageOverBudget(f"{len(page.candidates)} images", str(self.budget.page_images))
        return self._read(url, record.offset, False, page) if page else None

    def _read(self, url: str, offset: int, refused: bool, page: Page) -> ArchivePage:
        refused = refused or page.noindex
        return ArchivePage(url, page.candidates, page.language, refused, self.archive, offset, inner=self.inner)

    def _failure(self, url: str, offset: int, error: Exception) -> ArchivePage:
        """The failure that an error is; one that nobody foresaw is a defect, and costs its own record."""
        if isinstance(error, BadResponse):
            failure, detail = error.failure, error.detail
        elif isinstance(error, BadMetadata):
            failure, detail = "bad_metadata", str(error)
        elif isinstance(error, PageOverBudget):
            failure, detail = "page_over_budget", f"{error.reason}, asked {error.threshold}"
        else:
            _log.warning("%s in %s at %d could not be read: %r", url, self.archive, offset, error)
            failure, detail = "internal_error", type(error).__name__
        return ArchivePage(url, [], UNKNOWN, False, self.archive, offset, failure, detail, self.inner)
