"""The pairs of whatever a person names: an HTML file, a page's address, a WARC, WAT or WACZ, or standard input.

What it is is told by its bytes, never by its name. Not in scope: printing.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urljoin

from components.core.errors import HearsightError
from components.web.archives.encodings import BadResponse, decode_body
from components.web.archives.expansion import Expansion
from components.web.archives.findings import ArchivePage
from components.web.archives.gzip_members import MAGIC
from components.web.archives.kinds import ZIP, is_zstd, open_members
from components.web.archives.opening import PeekedStream, Stream, open_archive, read_fully
from components.web.archives.reading import read_stream
from components.web.archives.responses import PAGE_LIMIT
from components.web.budget import Budget
from components.web.html.language import UNKNOWN
from components.web.html.page import Candidate, PageOverBudget
from components.web.html.pairs import read_fast

_TAG = re.compile(rb"<\0?(?:[a-zA-Z]|!(?:doctype|--)|\?xml)", re.I)


def read_input(path: str, page_url: str = "") -> Iterator[ArchivePage]:
    """The pages of ``path`` and its failures, in order; one page when it is HTML.

    Args:
        path: a file, ``-``, ``s3://bucket/key`` or an http(s) address.
        page_url: for HTML, the address its relative ones go by; '' for the address it was got from, or the file's own.

    Raises:
        HearsightError: it is missing, cannot be read, or is no HTML, WARC, WAT or WACZ.
    """
    try:
        with open_archive(path) as opened:
            stream = PeekedStream(opened)
            head = _plain(stream.head)
            if head.startswith((b"WARC/", *ZIP)) or (_packed(stream.head) and not head):
                yield from read_stream(stream, path, context=False, budget=Budget())
            elif _TAG.search(head) and not _binary(head):
                yield _html(stream, path, page_url, getattr(opened, "headers", None))
            else:
                raise HearsightError("is no HTML, WARC, WAT or WACZ", where=path, hint="give a page or an archive of pages")
    except OSError as error:
        raise HearsightError(f"reading broke off ({error})", where=path, hint="try again") from None


def _packed(head: bytes) -> bool:
    return head.startswith(MAGIC) or is_zstd(head)


def _plain(head: bytes) -> bytes:
    """The beginning of the content; b"" when it is compressed and torn from its first byte on."""
    if not _packed(head):
        return head
    members = open_members(io.BytesIO(head), Expansion())
    return members.piece() if members.next() else b""


def _binary(head: bytes) -> bool:
    """Whether ``head`` is of a picture, a program or the like: NUL bytes, but not those of UTF-16."""
    return b"\0" in head[:4096] and head[:2] not in (b"\xff\xfe", b"\xfe\xff")


def _html(stream: Stream, path: str, page_url: str, headers: object) -> ArchivePage:
    """One page; its address is what it says, or what ``path`` is."""
    data, failure, detail = read_fully(stream, PAGE_LIMIT + 1), "", ""
    coding = b"gzip" if data.startswith(MAGIC) else b"zstd" if is_zstd(data) else b""
    try:
        if len(data) > PAGE_LIMIT:
            raise BadResponse("too_large", f"more than {PAGE_LIMIT} bytes")
        data = decode_body(data, coding, PAGE_LIMIT)
    except BadResponse as bad:
        data, failure, detail = b"", bad.failure, bad.detail
    charset = headers.get_content_charset() if hasattr(headers, "get_content_charset") else None
    address = page_url or (path if "://" in path else Path(path).absolute().as_uri() if path != "-" else "")
    try:
        page = read_fast(data, address, charset, context=False, budget=Budget())
    except PageOverBudget as over:
        text = f"{over.reason}, asked {over.threshold}"
        return ArchivePage(address or path, [], UNKNOWN, False, path, 0, "page_over_budget", text)
    found = ArchivePage(address or path, page.candidates, page.language, page.noindex, path, 0, failure, detail)
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


def iter_pairs(page: ArchivePage, every: bool = False) -> Iterator[dict[str, object]]:
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
