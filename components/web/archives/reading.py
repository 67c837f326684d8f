"""Read an archive: records become pages with candidates, and parts that cannot be read become failures."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from components.web.archives.encodings import BadRecord
from components.web.archives.members import Expansion
from components.web.archives.opening import PeekedStream, Stream, open_archive, open_seekable
from components.web.archives.records import Record, read_records
from components.web.archives.responses import parse_response
from components.web.archives.wacz import ZIP, iter_inner_files
from components.web.archives.wat import read_wat_page
from components.web.budget import Budget
from components.web.consent_policy import Statement
from components.web.html.language import UNKNOWN
from components.web.html.page import Candidate, Page, PageOverBudget
from components.web.html.page_limits import Source, read_in_child
from components.web.html.pairs import read_tags, read_tags_or_tree

_log = logging.getLogger(__name__)
_DEFAULT = Budget()


@dataclass(frozen=True)
class ArchivePage:
    """One page of an archive, or one part that could not be read (then ``failure`` is set)."""

    url: str
    """The page's address as the archive states it; '' for a failure when the record is too broken to tell."""
    candidates: list[Candidate]
    """The page's ``<img>`` in document order; empty for a failure."""
    language: str
    """ISO 639-1 code, declared or guessed; ``un`` when unknown."""
    statements: tuple[Statement, ...]
    """What the page's headers and meta tags state about being collected."""
    archive: str
    """The archive's path or address as given; for a WACZ followed by ``/`` and the inner file's name."""
    offset: int
    """Start of the record in bytes of the stored archive, or of the file inside a WACZ."""
    failure: str = ""
    """'' or truncated | bad_gzip | not_gzip | bad_zstd | not_zstd | bad_zip | bad_record | wrong_length | too_large |
    bad_encoding | bad_metadata | page_over_budget."""
    detail: str = ""
    """One line that describes the failure."""
    inner: str = ""
    """The name of the file inside a WACZ."""


def read_archive(
    path: str, *, context: bool = True, budget: Budget = _DEFAULT, agent: str = "hearsight"
) -> Iterator[ArchivePage]:
    """Yield the pages of a WARC, WAT or WACZ file, and a failure for each part that cannot be read.

    A page is an HTML response with a 2xx status, or the metadata record that describes one. Equal bytes give equal results in the
    same order.

    Args:
        path: a file, ``-``, ``s3://bucket/key`` or an http(s) address.
        context: whether pages' text is read for their language and figcaptions; see ``read_fast``.
        agent: our product token.

    Raises:
        HearsightError: the archive is missing or may not be read.
    """
    with open_archive(path) as stream:
        yield from read_stream(stream, path, context=context, budget=budget, agent=agent)


def read_stream(
    stream: Stream, archive: str, *, context: bool = True, budget: Budget = _DEFAULT, agent: str = "hearsight"
) -> Iterator[ArchivePage]:
    """Yield pages as ``read_archive`` does, from an open stream."""
    peeked = stream if isinstance(stream, PeekedStream) else PeekedStream(stream)
    reader = _Reader(archive, "", context, budget, agent, Expansion())
    if not peeked.head.startswith(ZIP):
        yield from reader.pages(peeked)
        return
    with open_seekable(peeked, archive) as file:
        for inner in iter_inner_files(file, archive):
            reader.expansion.scale = inner.scale
            inner_reader = replace(reader, archive=f"{archive}/{inner.name}", inner=inner.name)
            yield from inner_reader.pages(inner)
            if inner.fault:
                yield ArchivePage("", [], UNKNOWN, (), inner_reader.archive, 0, "bad_zip", inner.fault, inner.name)


PAGES_PER_BATCH, BYTES_PER_BATCH = 64, 1 << 24
"""Maximum pages that need their tree, and about how many of their bytes, that one child process reads."""


class _QueuedPage(NamedTuple):
    source: Source
    offset: int
    statements: list[Statement]
    """Those of the headers."""


@dataclass(frozen=True)
class _Reader:
    """Reads the records of one WARC or WAT file."""

    archive: str
    inner: str
    context: bool
    budget: Budget
    agent: str
    expansion: Expansion

    def pages(self, stream: Stream) -> Iterator[ArchivePage]:
        queue: list[ArchivePage | _QueuedPage] = []
        count = size = 0
        for record in read_records(stream, self.budget.record_bytes, self.expansion):
            page = self._read_record(record)
            if page is None:
                continue
            if isinstance(page, _QueuedPage):
                count, size = count + 1, size + len(page.source.html)
            elif not count:
                yield page
                continue
            queue.append(page)
            if count >= PAGES_PER_BATCH or size >= BYTES_PER_BATCH:
                yield from self._read_queue(queue)
                queue.clear()
                count = size = 0
        yield from self._read_queue(queue)

    def _read_queue(self, queue: Sequence[ArchivePage | _QueuedPage]) -> Iterator[ArchivePage]:
        """Yield the pages of a queue in its order, after reading those that waited."""
        sources = [item.source for item in queue if isinstance(item, _QueuedPage)]
        read = partial(read_tags_or_tree, context=self.context, budget=self.budget)
        outcomes = iter(read_in_child(read, sources, self.budget))
        for item in queue:
            if isinstance(item, ArchivePage):
                yield item
                continue
            url, page = item.source.url, next(outcomes)
            if isinstance(page, Exception):
                yield self._make_failure(url, item.offset, page)
            else:
                yield self._make_page(url, item.offset, item.statements, page)

    def _read_record(self, record: Record) -> ArchivePage | _QueuedPage | None:
        """Return the page or failure of a record; None when it holds no page."""
        try:
            if record.fault:
                raise BadRecord(record.fault, record.detail)
            kind = record.type
            if kind == b"response":
                return self._read_response(record)
            if kind == b"metadata" and record.headers.get(b"content-type", b"").startswith(b"application/json"):
                return self._read_metadata(record)
        except Exception as error:
            return self._make_failure(record.url, record.offset, error)
        return None

    def _read_response(self, record: Record) -> ArchivePage | _QueuedPage | None:
        if not record.block.startswith(b"HTTP/"):
            if record.headers.get(b"content-type", b"").startswith(b"application/http"):
                raise BadRecord("bad_record", "the HTTP response has no status line")
            return None  # dns: and ftp: answers are responses too
        response = parse_response(record.block)
        if not 200 <= response.status < 300 or not response.html:
            return None
        url, offset, statements = record.url, record.offset, response.read_statements(self.agent)
        source = Source(response.body(self.budget.record_bytes), url, response.charset, self.agent)
        page = read_tags(source, self.context, self.budget)
        return _QueuedPage(source, offset, statements) if page is None else self._make_page(url, offset, statements, page)

    def _read_metadata(self, record: Record) -> ArchivePage | None:
        url = record.url
        page = read_wat_page(record.block, url, self.agent)
        if page is None:
            return None
        if len(page.candidates) > self.budget.page_images:
            raise PageOverBudget(f"{len(page.candidates)} images", str(self.budget.page_images))
        return self._make_page(url, record.offset, [], page)

    def _make_page(self, url: str, offset: int, statements: list[Statement], page: Page) -> ArchivePage:
        every = (*statements, *page.statements)
        return ArchivePage(url, page.candidates, page.language, every, self.archive, offset, inner=self.inner)

    def _make_failure(self, url: str, offset: int, error: Exception) -> ArchivePage:
        """Return the failure for an error; an unforeseen error is a defect and costs one record."""
        if isinstance(error, BadRecord):
            failure, detail = error.failure, error.detail
        elif isinstance(error, PageOverBudget):
            failure, detail = "page_over_budget", f"{error.reason}, limit {error.threshold}"
        else:
            _log.warning("%s in %s at %d could not be read: %r", url, self.archive, offset, error)
            failure, detail = "internal_error", type(error).__name__
        return ArchivePage(url, [], UNKNOWN, (), self.archive, offset, failure, detail, self.inner)
