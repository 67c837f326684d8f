"""The pairs of whatever a person names: an HTML file, a page's address, a WARC or WAT, or standard input.

What it is is told by its bytes, never by its name. Not in scope: printing.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urljoin

from components.core.errors import HearsightError
from components.crawl.archives.found import PageFound
from components.crawl.archives.members import MAGIC
from components.crawl.archives.opening import Stream, open_archive
from components.crawl.archives.pairs import read_fast
from components.crawl.archives.reading import read_stream
from components.crawl.archives.responses import PAGE_LIMIT
from components.crawl.html import Candidate

LOOK = 1 << 16
"""Bytes looked at to tell what a file is."""
_TAG = re.compile(rb"<\0?(?:[a-zA-Z]|!(?:doctype|--)|\?xml)", re.I)


class _Ahead:
    """A stream whose beginning was looked at already."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self.head = stream, b""
        while len(self.head) < LOOK and (more := stream.read(LOOK - len(self.head))):
            self.head += more
        self._given = False

    def read(self, size: int, /) -> bytes:
        if not self._given:
            self._given = True
            if self.head:
                return self.head
        return self._stream.read(size)


def pairs_in(path: str, page_url: str = "") -> Iterator[PageFound]:
    """The pages of ``path`` and its failures, in order; one page when it is HTML.

    Args:
        path: a file, ``-``, ``s3://bucket/key`` or an http(s) address.
        page_url: for HTML, the address its relative ones go by; '' for the address it was got from, or the file's own.

    Raises:
        HearsightError: it is missing, cannot be read, or is no HTML, WARC or WAT.
    """
    try:
        with open_archive(path) as opened:
            stream = _Ahead(opened)
            head = _plain(stream.head)
            if head.startswith(b"WARC/") or (stream.head.startswith(MAGIC) and not head):
                yield from read_stream(stream, path, context=False)
            elif _TAG.search(head) and not _binary(head):
                yield _html(stream, path, page_url, getattr(opened, "headers", None))
            else:
                raise HearsightError("is no HTML, WARC or WAT", where=path, mend="give a page or an archive of pages")
    except OSError as error:
        raise HearsightError(f"reading broke off ({error})", where=path, mend="try again") from None


def _plain(head: bytes) -> bytes:
    """The beginning of the content; b"" when it is compressed and torn from its first byte on."""
    if not head.startswith(MAGIC):
        return head
    try:
        return zlib.decompressobj(31).decompress(head, LOOK)
    except zlib.error:
        return b""


def _binary(head: bytes) -> bool:
    """Whether ``head`` is of a picture, a program or the like: NUL bytes, but not those of UTF-16."""
    return b"\0" in head[:4096] and head[:2] not in (b"\xff\xfe", b"\xfe\xff")


def _html(stream: Stream, path: str, page_url: str, headers: object) -> PageFound:
    """One page; its address is what it says, or what ``path`` is."""
    data, failure = b"", ""
    while len(data) <= PAGE_LIMIT and (more := stream.read(1 << 20)):
        data += more
    if data.startswith(MAGIC):
        unpacker = zlib.decompressobj(31)
        try:
            data = unpacker.decompress(data, PAGE_LIMIT + 1)
            failure = "" if unpacker.eof or len(data) > PAGE_LIMIT else "truncated"
        except zlib.error:
            data, failure = b"", "bad_gzip"
    if len(data) > PAGE_LIMIT:
        data, failure = b"", "too_large"
    charset = headers.get_content_charset() if hasattr(headers, "get_content_charset") else None
    address = page_url or (path if "://" in path else Path(path).absolute().as_uri() if path != "-" else "")
    page = read_fast(data, address, charset, context=False)
    found = PageFound(address or path, page.candidates, page.language, page.noindex, path, 0, failure)
    if address.startswith("file://"):
        return replace(found, candidates=[_beside(candidate, address) for candidate in page.candidates])
    return found


def _beside(candidate: Candidate, address: str) -> Candidate:
    """A candidate of a page on disk, whose picture may lie on disk, too."""
    if candidate.image_url is not None or candidate.data_uri or not candidate.source:
        return candidate
    try:
        return replace(candidate, image_url=urljoin(address, candidate.source))
    except ValueError:
        return candidate


def as_pairs(page: PageFound, every: bool = False) -> Iterator[dict[str, object]]:
    """A page's pairs as plain mappings: page, image, alt, position, archive, offset.

    With ``every``, images without an address or without alt-text come, too.
    """
    for candidate in page.candidates:
        if every or (candidate.image_url and candidate.alt):
            yield {
                "page": page.url,
                "image": candidate.image_url,
                "alt": candidate.alt,
                "position": candidate.position,
                "archive": page.archive,
                "offset": page.offset,
            }
