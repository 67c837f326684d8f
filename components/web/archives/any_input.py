"""Read image–text pairs from any input: an HTML file, a page's address, a WARC, WAT or WACZ, or standard input.

The type is detected from the bytes, never from the name.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from components.core.errors import HearsightError
from components.web.archives.encodings import MAGIC, BadRecord, decode_body
from components.web.archives.members import Expansion
from components.web.archives.opening import PeekedStream, Stream, open_archive, read_fully
from components.web.archives.reading import ArchivePage, read_stream
from components.web.archives.records import is_arc, open_members
from components.web.archives.wacz import ZIP
from components.web.archives.zstd_members import is_zstd
from components.web.budget import Budget
from components.web.html.language import UNKNOWN
from components.web.html.page import Candidate, PageOverBudget
from components.web.html.pairs import read_fast
from components.web.urls import LOCAL, is_local

_BUDGET = Budget()
ARCHIVE = re.compile(rb"[\r\n\xef\xbb\xbf]*WARC/|" + b"|".join(ZIP))
"""Matches the first bytes of a WARC, WAT or WACZ."""
_TAG = re.compile(rb"<\0?(?:[a-zA-Z]|!(?:doctype|--)|\?xml)", re.I)


def read_input(
    path: str, page_url: str = "", skipped: Counter[str] | None = None, *, context: bool = False
) -> Iterator[ArchivePage]:
    """Yield the pages and failures of ``path`` in order; one page for HTML.

    Args:
        path: a file, ``-``, ``s3://bucket/key`` or an http(s) address.
        page_url: for HTML, the base of relative addresses; '' for the address it was read from, or the file's own.
        skipped, context: as of :func:`components.web.archives.read_archive`.

    Raises:
        HearsightError: the input is missing, cannot be read, or is not HTML, WARC, WAT or WACZ.
    """
    try:
        with open_archive(path) as opened:
            stream = PeekedStream(opened)
            head = decompress_head(stream.head)
            if ARCHIVE.match(head) or is_arc(head) or (_is_compressed(stream.head) and not head):
                yield from read_stream(stream, path, context=context, skipped=skipped)
            elif _TAG.search(head) and not _is_binary(head):
                yield _read_html(stream, path, page_url, getattr(opened, "charset", None), context)
            else:
                raise HearsightError("is not HTML, WARC, WAT or WACZ", where=path, hint="give a page or an archive of pages")
    except OSError as error:
        raise HearsightError(f"reading failed ({error})", where=path, hint="try again") from None


def _is_compressed(head: bytes) -> bool:
    return head.startswith(MAGIC) or is_zstd(head)


def decompress_head(head: bytes) -> bytes:
    """Return the first bytes of the content; b"" when it is compressed and broken from its first byte."""
    if not _is_compressed(head):
        return head
    members = open_members(io.BytesIO(head), Expansion())
    return members.read_piece() if members.next() else b""


def _is_binary(head: bytes) -> bool:
    """Return whether ``head`` is binary data: NUL bytes, but not those of UTF-16."""
    return b"\0" in head[:4096] and head[:2] not in (b"\xff\xfe", b"\xfe\xff")


def _read_html(stream: Stream, path: str, page_url: str, charset: str | None, context: bool) -> ArchivePage:
    """Return the page in ``stream``; its address is ``page_url``, or derived from ``path``."""
    data, failure, detail = read_fully(stream, _BUDGET.record_bytes + 1), "", ""
    coding = b"gzip" if data.startswith(MAGIC) else b"zstd" if is_zstd(data) else b""
    try:
        if len(data) > _BUDGET.record_bytes:
            raise BadRecord("too_large", f"more than {_BUDGET.record_bytes} bytes")
        data = decode_body(data, coding, _BUDGET.record_bytes)
    except BadRecord as error:
        data, failure, detail = b"", error.failure, error.detail
    address = page_url or (path if "://" in path else Path(path).absolute().as_uri() if path != "-" else "")
    try:
        page = read_fast(data, re.sub("^file://", f"http://{LOCAL}", address), charset, context=context)
    except PageOverBudget as error:
        text = f"{error.reason}, asked {error.threshold}"
        return ArchivePage(address or path, [], UNKNOWN, (), path, 0, "page_over_budget", text)
    result = ArchivePage(address or path, page.candidates, page.language, page.statements, path, 0, failure, detail)
    if address.startswith("file://"):
        return replace(result, candidates=[_to_file(candidate) for candidate in page.candidates])
    return result


def _to_file(candidate: Candidate) -> Candidate:
    """Return the candidate of a page on disk, whose address stands for a file."""
    url = candidate.image_url or ""
    return replace(candidate, image_url=f"file://{url.removeprefix(f'http://{LOCAL}')}") if is_local(url) else candidate


def iter_pairs(page: ArchivePage, every: bool = False) -> Iterator[dict[str, object]]:
    """Yield a page's pairs as plain mappings: page, image, alt, position, archive, offset.

    With ``every``, images without an address or alt-text are included.
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
