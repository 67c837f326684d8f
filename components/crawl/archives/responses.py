"""A page's bytes out of the HTTP response an archive holds: head parsed, transfer and content encodings undone.

Archives differ: Common Crawl stores bodies decoded and renames the headers, other crawlers store the octets as sent, and
some store decoded bodies beside headers that say otherwise. So a body that does not even begin as its header says is
taken as it is; one that begins so and then breaks is an error. Not in scope: what the page holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from isal import isal_zlib

from components.crawl.archives.fields import Fields, fields
from components.crawl.archives.members import BROKEN, MAGIC

PAGE_LIMIT = 1 << 24
"""Bytes of a page, decoded."""
HTML = (b"text/html", b"application/xhtml+xml")
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.I)
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,1000})?\r?\n")


class BadResponse(Exception):
    """A response that cannot be read: ``failure`` is bad_encoding | too_large | bad_record."""

    def __init__(self, failure: str, detail: str) -> None:
        super().__init__(failure, detail)
        self.failure, self.detail = failure, detail


@dataclass(slots=True)
class Response:
    """An HTTP response's head; ``body`` undoes the encodings."""

    status: int
    headers: Fields
    """Names in lower case; equal ones joined by a comma."""
    raw: bytes

    @property
    def html(self) -> bool:
        """Whether it is a page: HTML or XHTML by its type, or by its beginning when it states none."""
        stated = self.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        return stated in HTML or (not stated and self.raw.lstrip()[:1] == b"<")

    @property
    def charset(self) -> str | None:
        """The charset of its Content-Type."""
        found = _CHARSET.search(self.headers.get(b"content-type", b"").decode("latin-1"))
        return found[1] if found else None

    @property
    def noindex(self) -> bool:
        """Whether its X-Robots-Tag asks to be kept out of collections, whatever robot it names."""
        wishes = re.split(rb"[,:;\s]+", self.headers.get(b"x-robots-tag", b"").lower())
        return not {b"noindex", b"none", b"noimageindex"}.isdisjoint(wishes)

    def body(self, limit: int = PAGE_LIMIT) -> bytes:
        """The page's bytes.

        Raises:
            BadResponse: an encoding is broken or unknown, or the page has more than ``limit`` bytes.
        """
        data = self.raw
        if b"chunked" in self.headers.get(b"transfer-encoding", b"").lower():
            data = _unchunked(data)
        for coding in reversed(self.headers.get(b"content-encoding", b"").lower().split(b",")):
            data = _decoded(data, coding.strip(), limit)
        if len(data) > limit:
            raise BadResponse("too_large", f"{len(data)} bytes, more than {limit}")
        return data


def parse_response(block: bytes) -> Response:
    """The response a record's block holds.

    Raises:
        BadResponse: it has no status line.
    """
    first, headers, start = fields(block, 0)
    words = first.split(None, 2)
    if start < 0 or len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit() or len(words[1]) > 4:
        raise BadResponse("bad_record", "the HTTP response has no head")
    return Response(int(words[1]), headers, block[start:])


def _unchunked(data: bytes) -> bytes:
    """RFC 9112, 7.1."""
    if not _CHUNK.match(data):
        return data
    parts: list[bytes] = []
    at = 0
    while True:
        size = _CHUNK.match(data, at)
        if size is None:
            raise BadResponse("bad_encoding", f"no chunk begins at byte {at} of a chunked body")
        length = int(size[1], 16)
        if length == 0:
            return b"".join(parts)
        part = data[size.end() : size.end() + length]
        parts.append(part)
        at = size.end() + length
        if len(part) < length:
            raise BadResponse("bad_encoding", "the last chunk of a chunked body is not whole")
        at += 2 if data.startswith(b"\r\n", at) else 1 if data.startswith(b"\n", at) else 0


def _decoded(data: bytes, coding: bytes, limit: int) -> bytes:
    if coding in (b"", b"identity") or not data:
        return data
    if coding in (b"gzip", b"x-gzip"):
        return _inflated(data, 31, limit) if data.startswith(MAGIC) else data
    if coding == b"deflate":
        if _zlib_head(data):
            return _inflated(data, 15, limit)
        return data if data.lstrip().startswith(b"<") else _inflated(data, -15, limit)  # servers send it bare, too
    if data.lstrip().startswith((b"<", b"\xef\xbb\xbf<")):
        return data
    raise BadResponse("bad_encoding", f"the content encoding '{coding[:20].decode('latin-1')}' is not read")


def _zlib_head(data: bytes) -> bool:
    return len(data) > 1 and data[0] & 15 == 8 and (data[0] << 8 | data[1]) % 31 == 0


def _inflated(data: bytes, bits: int, limit: int) -> bytes:
    unpacker = isal_zlib.decompressobj(bits)
    try:
        page: bytes = unpacker.decompress(data, limit + 1)
    except BROKEN as error:
        raise BadResponse("bad_encoding", f"the compressed body is broken ({error})") from None
    if len(page) > limit:
        raise BadResponse("too_large", f"more than {limit} bytes once decompressed")
    if not unpacker.eof:
        raise BadResponse("bad_encoding", "the compressed body is not whole")
    return page
