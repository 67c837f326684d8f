"""An archive read: its records become pages with candidates, and what cannot be read becomes failures."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from components.crawl.archives.expansion import Expansion
from components.crawl.archives.found import PageFound
from components.crawl.archives.kinds import ZIP
from components.crawl.archives.opening import Ahead, Stream, open_archive, whole_file
from components.crawl.archives.pairs import read_tags, read_whole
from components.crawl.archives.records import Record, records
from components.crawl.archives.responses import PAGE_LIMIT, BadResponse, parse_response
from components.crawl.archives.wacz import inner_files
from components.crawl.archives.wat import DESCRIBED, BadMetadata, wat_page
from components.crawl.budget import Budget
from components.crawl.html import Page, PageOverBudget
from components.crawl.language import UNKNOWN
from components.crawl.page_limits import Source, read_in_child

_log = logging.getLogger(__name__)


def read_archive(
    path: str, *, context: bool = True, limit: int = PAGE_LIMIT, budget: Budget | None = None
) -> Iterator[PageFound]:
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
) -> Iterator[PageFound]:
    """As ``read_archive``, of bytes already open."""
    ahead = stream if isinstance(stream, Ahead) else Ahead(stream)
    reader = _Reader(context, limit, budget, Expansion())
    if not ahead.head.startswith(ZIP):
        yield from reader.pages(ahead, archive)
        return
    with whole_file(ahead, archive) as file:
        for inner in inner_files(file, archive):
            reader.expansion.scale = inner.scale
            yield from reader.pages(inner, f"{archive}/{inner.name}", inner.name)
            if inner.fault:
                name = f"{archive}/{inner.name}"
                yield PageFound("", [], UNKNOWN, False, name, 0, "bad_zip", inner.fault, inner.name)


PAGES_A_BATCH, BYTES_A_BATCH = 64, 1 << 24
"""Pages that need their tree, and about how many bytes of them, that one child process reads."""


@dataclass(frozen=True)
class _Waiting:
    """A page that is read later, with others."""

    place: PageFound
    """What is known of it."""
    source: Source


@dataclass(frozen=True)
class _Reader:
    """How the records of one archive are read."""

    context: bool
    limit: int
    budget: Budget | None
    expansion: Expansion

    def pages(self, stream: Stream, archive: str, inner: str = "") -> Iterator[PageFound]:
        """The pages of one WARC or WAT, and its failures."""
        queue: list[PageFound | _Waiting] = []
        count = size = 0
        for record in records(stream, self.limit, self.expansion):
            found = self._found(record, PageFound(record.url, [], UNKNOWN, False, archive, record.offset, inner=inner))
            if isinstance(found, _Waiting):
                count, size = count + 1, size + len(found.source.html)
            if found is not None:
                queue.append(found)
            if not count or count >= PAGES_A_BATCH or size >= BYTES_A_BATCH:
                yield from self._finished(queue)
                queue.clear()
                count = size = 0
        yield from self._finished(queue)

    def _finished(self, queue: Sequence[PageFound | _Waiting]) -> Iterator[PageFound]:
        """The pages of a queue in its order, those that waited among them."""
        sources = [item.source for item in queue if isinstance(item, _Waiting)]
        outcomes: Iterator[Page | Exception] = iter(())
        if sources and self.budget is not None:
            outcomes = iter(read_in_child(partial(read_whole, context=self.context, budget=self.budget), sources, self.budget))
        for item in queue:
            if isinstance(item, PageFound):
                yield item
            else:
                page = next(outcomes)
                yield _failure(item.place, page) if isinstance(page, Exception) else _read(item.place, page)

    def _found(self, record: Record, place: PageFound) -> PageFound | _Waiting | None:
        """What a record gives; None when it is no page."""
        if record.fault:
            return replace(place, failure=record.fault, detail=record.detail)
        try:
            kind = record.type
            if kind == b"response":
                return self._response(record, place)
            if kind == b"metadata" and record.headers.get(b"content-type", b"").startswith(b"application/json"):
                return self._described(record, place)
        except Exception as error:
            return _failure(place, error)
        return None

    def _response(self, record: Record, place: PageFound) -> PageFound | _Waiting | None:
        if not record.block.startswith(b"HTTP/"):
            if record.headers.get(b"content-type", b"").startswith(b"application/http"):
                raise BadResponse("bad_record", "the HTTP response has no status line")
            return None  # dns: and ftp: answers are responses, too
        response = parse_response(record.block)
        if not 200 <= response.status < 300 or not response.html:
            return None
        place = replace(place, noindex=True) if response.noindex else place
        source = Source(response.body(self.limit), record.url, response.charset)
        if self.budget is None:
            return _read(place, read_whole(source, self.context, None))
        page = read_tags(source, self.context, self.budget)
        return _read(place, page) if page is not None else _Waiting(place, source)

    def _described(self, record: Record, place: PageFound) -> PageFound | None:
        page = wat_page(record.block, record.url) if DESCRIBED in record.block else None
        if page and self.budget and len(page.candidates) > self.budget.page_images:
            raise PageOverBudget(f"{len(page.candidates)} images", str(self.budget.page_images))
        return _read(place, page) if page else None


def _read(place: PageFound, page: Page) -> PageFound:
    return PageFound(
        place.url,
        page.candidates,
        page.language,
        place.noindex or page.noindex,
        place.archive,
        place.offset,
        inner=place.inner,
    )


def _failure(place: PageFound, error: Exception) -> PageFound:
    """The failure that an error is; one that nobody foresaw is a defect, and costs its own record."""
    if isinstance(error, BadResponse):
        failure, detail = error.failure, error.detail
    elif isinstance(error, BadMetadata):
        failure, detail = "bad_metadata", str(error)
    elif isinstance(error, PageOverBudget):
        failure, detail = "page_over_budget", f"{error.reason}, asked {error.threshold}"
    else:
        _log.warning("%s in %s at %d could not be read: %r", place.url, place.archive, place.offset, error)
        failure, detail = "internal_error", type(error).__name__
    return replace(place, noindex=False, failure=failure, detail=detail)
