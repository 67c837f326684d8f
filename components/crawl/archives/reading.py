"""An archive read: its records become pages with candidates, and what cannot be read becomes failures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from components.crawl.archives.expansion import Expansion
from components.crawl.archives.found import PageFound
from components.crawl.archives.kinds import ZIP
from components.crawl.archives.opening import Ahead, Stream, open_archive, whole_file
from components.crawl.archives.pairs import read_fast
from components.crawl.archives.records import Record, records
from components.crawl.archives.responses import PAGE_LIMIT, BadResponse, parse_response
from components.crawl.archives.wacz import inner_files
from components.crawl.archives.wat import DESCRIBED, BadMetadata, wat_page
from components.crawl.budget import Budget
from components.crawl.html import Page, PageOverBudget
from components.crawl.language import UNKNOWN


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


@dataclass(frozen=True)
class _Reader:
    """How the records of one archive are read."""

    context: bool
    limit: int
    budget: Budget | None
    expansion: Expansion

    def pages(self, stream: Stream, archive: str, inner: str = "") -> Iterator[PageFound]:
        """The pages of one WARC or WAT, and its failures."""
        for record in records(stream, self.limit, self.expansion):
            if record.fault:
                yield _failure(record, archive, record.fault, record.detail, inner)
                continue
            try:
                page = self._page(record)
            except BadResponse as bad:
                yield _failure(record, archive, bad.failure, bad.detail, inner)
            except BadMetadata as bad:
                yield _failure(record, archive, "bad_metadata", str(bad), inner)
            except PageOverBudget as over:
                yield _failure(record, archive, "page_over_budget", f"{over.reason}, asked {over.threshold}", inner)
            else:
                if page is not None:
                    url, offset = record.url, record.offset
                    yield PageFound(url, page.candidates, page.language, page.noindex, archive, offset, inner=inner)

    def _page(self, record: Record) -> Page | None:
        kind = record.type
        if kind == b"response":
            if not record.block.startswith(b"HTTP/"):
                if record.headers.get(b"content-type", b"").startswith(b"application/http"):
                    raise BadResponse("bad_record", "the HTTP response has no status line")
                return None  # dns: and ftp: answers are responses, too
            response = parse_response(record.block)
            if not 200 <= response.status < 300 or not response.html:
                return None
            body = response.body(self.limit)
            page = read_fast(body, record.url, response.charset, context=self.context, budget=self.budget)
            return replace(page, noindex=True) if response.noindex and not page.noindex else page
        if kind == b"metadata" and record.headers.get(b"content-type", b"").startswith(b"application/json"):
            if DESCRIBED not in record.block:
                return None
            described = wat_page(record.block, record.url)
            if described and self.budget and len(described.candidates) > self.budget.page_images:
                raise PageOverBudget(f"{len(described.candidates)} images", str(self.budget.page_images))
            return described
        return None


def _failure(record: Record, archive: str, failure: str, detail: str, inner: str) -> PageFound:
    return PageFound(record.url, [], UNKNOWN, False, archive, record.offset, failure, detail, inner)
