"""An archive read: its records become pages with candidates, and what cannot be read becomes failures."""

from __future__ import annotations

from collections.abc import Iterator

from components.crawl.archives.found import PageFound
from components.crawl.archives.opening import Stream, open_archive
from components.crawl.archives.pairs import read_fast
from components.crawl.archives.records import Record, records
from components.crawl.archives.responses import PAGE_LIMIT, BadResponse, parse_response
from components.crawl.archives.wat import BadMetadata, wat_page
from components.crawl.language import UNKNOWN


def read_archive(path: str, *, context: bool = True) -> Iterator[PageFound]:
    """The pages of a WARC or WAT file, gzip or plain, and a failure for every part of it that cannot be read, in order.

    A page is an HTML response with a 2xx status, or the metadata record that describes one. Equal bytes give equal results.

    Args:
        path: a file, ``-``, ``s3://bucket/key`` or an http(s) address.
        context: whether the text of pages is read for their language and figcaptions; see ``read_fast``.

    Raises:
        HearsightError: the archive is missing or may not be read.
    """
    with open_archive(path) as stream:
        yield from read_stream(stream, path, context=context)


def read_stream(stream: Stream, archive: str, *, context: bool = True, limit: int = PAGE_LIMIT) -> Iterator[PageFound]:
    """As ``read_archive``, of bytes already open; ``limit`` is bytes of a record and of a page, decompressed."""
    for record in records(stream, limit):
        if record.fault:
            yield _failure(record, archive, record.fault, record.detail)
            continue
        try:
            found = _page(record, archive, context, limit)
        except BadResponse as bad:
            found = _failure(record, archive, bad.failure, bad.detail)
        except BadMetadata as bad:
            found = _failure(record, archive, "bad_metadata", str(bad))
        if found is not None:
            yield found


def _page(record: Record, archive: str, context: bool, limit: int) -> PageFound | None:
    url = record.url
    if record.type == b"response":
        if not record.block.startswith(b"HTTP/"):
            if record.headers.get(b"content-type", b"").startswith(b"application/http"):
                raise BadResponse("bad_record", "the HTTP response has no status line")
            return None  # dns: and ftp: answers are responses, too
        response = parse_response(record.block)
        if not 200 <= response.status < 300 or not response.html:
            return None
        page = read_fast(response.body(limit), url, response.charset, context=context)
        refused = page.noindex or response.noindex
    elif record.type == b"metadata" and record.headers.get(b"content-type", b"").startswith(b"application/json"):
        described = wat_page(record.block, url)
        if described is None:
            return None
        page, refused = described, described.noindex
    else:
        return None
    return PageFound(url, page.candidates, page.language, refused, archive, record.offset)


def _failure(record: Record, archive: str, failure: str, detail: str) -> PageFound:
    return PageFound(record.url, [], UNKNOWN, False, archive, record.offset, failure, detail)
