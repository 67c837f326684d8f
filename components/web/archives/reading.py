"""Read an archive: records become pages with candidates, and parts that cannot be read become failures."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from components.core.errors import HearsightError
from components.web.archives.encodings import BadRecord
from components.web.archives.members import RATIO, Expansion
from components.web.archives.opening import PeekedStream, Stream, open_archive, open_seekable
from components.web.archives.records import Record, read_records
from components.web.archives.responses import Response, parse_response
from components.web.archives.wacz import ZIP, iter_inner_files
from components.web.archives.wat import read_wat_page
from components.web.budget import Budget
from components.web.challenges import FAILURE as CHALLENGE
from components.web.challenges import find_challenge
from components.web.consent.statements import Statement
from components.web.html.language import UNKNOWN
from components.web.html.page import Candidate, Page, PageOverBudget
from components.web.html.page_limits import Source, read_in_child
from components.web.html.pairs import read_tags, read_tags_or_tree

_log = logging.getLogger(__name__)
_DEFAULT = Budget()
DEEPEST = 4
"""Maximum WACZ files inside each other."""
_ABOUT_OTHERS = (b"warcinfo", b"request", b"metadata")
"""Types of records that describe other records."""
_WITH_CONTENT = (b"response", b"resource", b"conversion")
_REPEATING = (b"revisit", b"continuation")


@dataclass
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
    bad_encoding | bad_metadata | page_over_budget | segmented | arc_file."""
    detail: str = ""
    """One line that describes the failure."""
    inner: str = ""
    """The name of the file inside a WACZ."""


def read_archive(
    path: str,
    *,
    context: bool = True,
    budget: Budget = _DEFAULT,
    agent: str = "hearsight",
    skipped: Counter[str] | None = None,
) -> Iterator[ArchivePage]:
    """Yield the pages of a WARC, WAT or WACZ file, and a failure for each part that cannot be read.

    A page is an HTML response with a 2xx status, a resource or conversion that is HTML, or the metadata record that describes a
    page. Equal bytes give equal results in the same order.

    Args:
        path: a file, ``-``, ``s3://bucket/key`` or an http(s) address.
        context: whether pages' text is read for their language; see ``read_fast``.
        agent: our product token.
        skipped: counts by reason the records that hold no page, apart from those that describe other records.

    Raises:
        HearsightError: the archive is missing or may not be read.
    """
    with open_archive(path) as stream:
        yield from read_stream(stream, path, context=context, budget=budget, agent=agent, skipped=skipped)


def read_stream(
    stream: Stream,
    archive: str,
    *,
    context: bool = True,
    budget: Budget = _DEFAULT,
    agent: str = "hearsight",
    skipped: Counter[str] | None = None,
) -> Iterator[ArchivePage]:
    """Yield pages as ``read_archive`` does, from an open stream."""
    counted = Counter[str]() if skipped is None else skipped
    yield from _Reader(archive, "", context, budget, agent, Expansion(), counted).read(stream)


def summarize(pages: int, skipped: Counter[str]) -> str:
    """Return one line that says how many pages an archive gave, and what else it held."""
    reasons = ", ".join(f"{reason} ({count})" for reason, count in sorted(skipped.items()))
    return (f"{pages} pages read" if pages else "has no page") + (f"; left out: {reasons}" if reasons else "")


PAGES_PER_BATCH, BYTES_PER_BATCH = 64, 1 << 24
"""Maximum pages that need their tree, and about how many of their bytes, that one child process reads."""


class _QueuedPage(NamedTuple):
    source: Source
    offset: int
    statements: list[Statement]
    """Those of the headers."""


@dataclass(frozen=True)
class _Reader:
    """Reads one WARC, WAT or WACZ file."""

    archive: str
    inner: str
    context: bool
    budget: Budget
    agent: str
    expansion: Expansion
    skipped: Counter[str]

    def read(self, stream: Stream, depth: int = 1) -> Iterator[ArchivePage]:
        """Yield the pages of the file, which is inside ``depth`` - 1 WACZ files.

        Raises:
            HearsightError: it is a ZIP file but no WACZ, or cannot be copied.
        """
        peeked = stream if isinstance(stream, PeekedStream) else PeekedStream(stream)
        if not peeked.head.startswith(ZIP):
            yield from self.pages(peeked)
            return
        scale = self.expansion.scale
        if depth > DEEPEST or scale * RATIO < 1:
            what = f"is inside {depth - 1} other WACZ files" if depth > DEEPEST else f"expands more than {RATIO} times"
            raise HearsightError(what, where=self.archive, hint="unpack it first")
        with open_seekable(peeked, self.archive) as file:
            for inner in iter_inner_files(file, self.archive):
                self.expansion.scale = scale * inner.scale
                reader = replace(
                    self, archive=f"{self.archive}/{inner.name}", inner=f"{self.inner}/{inner.name}".removeprefix("/")
                )
                try:
                    yield from reader.read(inner, depth + 1)
                except HearsightError as error:
                    inner.fault = inner.fault or f"{error.what} — {error.hint}"
                if inner.fault:
                    yield reader._make_failure("", 0, BadRecord("bad_zip", inner.fault))

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
        if queue:
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
        kind = record.type
        try:
            if record.fault:
                raise BadRecord(record.fault, record.detail)
            if kind in _WITH_CONTENT:
                return self._read_content(record)
            if kind == b"metadata" and record.headers.get(b"content-type", b"").startswith(b"application/json"):
                return self._read_metadata(record)
        except Exception as error:
            return self._make_failure(record.url, record.offset, error)
        if kind not in _ABOUT_OTHERS:
            self.skipped[f"{kind.decode()} records" if kind in _REPEATING else "records of unknown types"] += 1
        return None

    def _read_content(self, record: Record) -> ArchivePage | _QueuedPage | None:
        content_type = record.headers.get(b"content-type", b"")
        if record.block.startswith(b"HTTP/"):
            response = parse_response(record.block)
        elif content_type.startswith(b"application/http"):
            raise BadRecord("bad_record", "the HTTP response has no status line")
        else:  # a resource or conversion; dns: and ftp: answers are responses too
            response = Response(200, {b"content-type": content_type}, record.block)
        if not 200 <= response.status < 300 or not response.html:
            self.skipped["answers that are not HTML" if 200 <= response.status < 300 else "answers with another status"] += 1
            return None
        if b"warc-segment-number" in record.headers:
            raise BadRecord("segmented", "the record continues in others, which are not read: join its segments first")
        url, offset, statements = record.url, record.offset, response.read_statements()
        body = response.body(self.budget.record_bytes)
        if sign := find_challenge(response.status, response.text_headers, body):
            raise BadRecord(CHALLENGE, sign)
        source = Source(body, url, response.charset, self.agent)
        page = read_tags(source, self.context, self.budget)
        return _QueuedPage(source, offset, statements) if page is None else self._make_page(url, offset, statements, page)

    def _read_metadata(self, record: Record) -> ArchivePage | None:
        url = record.url
        page = read_wat_page(record.block, url, self.agent)
        if page is None:
            if b'"HTTP-Response-Metadata"' in record.block:
                self.skipped["answers that are not HTML"] += 1
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
