"""A page's bytes out of the HTTP response an archive holds: head parsed, transfer and content encodings undone.

Archives differ: Common Crawl stores bodies decoded and renames the headers, other crawlers store the octets as sent, and
some store decoded bodies beside headers that say otherwise: a body that does not begin as its header says is taken as it is.
Not in scope: the content encodings (``encodings``), what the page holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from components.web.archives.encodings import BadResponse, decode_body
from components.web.archives.fields import Fields, parse_fields

__all__ = ["PAGE_LIMIT", "BadResponse", "Response", "parse_response"]

PAGE_LIMIT = 1 << 24
"""Bytes of a page, decoded."""
HEAD_LIMIT = 1 << 18
"""Bytes of a response's head."""
CHUNKS = 100_000
"""Chunks of a chunked body; one with more is refused."""
HTML = (b"text/html", b"application/xhtml+xml")
_CHARSET = re.compile(r"""charset\s*+=\s*+["']?+\s*+([A-Za-z0-9_.:-]{1,40})""", re.I)
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,1000})?\r?\n")


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
        return stated in HTML or (not stated and self.raw[:1024].lstrip()[:1] == b"<")

    @property
    def charset(self) -> str | None:
        """The charset of its Content-Type."""
        found = _CHARSET.search(self.headers.get(b"content-type", b"").decode("latin-1"))
        return found[1] if found else None

    @property
    def noindex(self) -> bool:
        """Whether its X-Robots-Tag asks to be kept out of collections, whatever robot it names."""
        told = self.headers.get(b"x-robots-tag")
        if told is None:
            return False
        wishes = re.split(rb"[,:;\s]+", told.lower())
        return not {b"noindex", b"none", b"noimageindex"}.isdisjoint(wishes)

    def body(self, limit: int = PAGE_LIMIT) -> bytes:
        """The page's bytes.

        Raises:
            BadResponse: an encoding is broken or unknown, or the page has more than ``limit`` bytes.
        """
        data = self.raw
        if b"chunked" in self.headers.get(b"transfer-encoding", b"").lower():
            data = _unchunked(data)
        if b"content-encoding" in self.headers:
            data = decode_body(data, self.headers[b"content-encoding"], limit)
        if len(data) > limit:
            raise BadResponse("too_large", f"{len(data)} bytes, more than {limit}")
        return data


def parse_response(block: bytes) -> Response:
    """The response a record's block holds.

    Raises:
        BadResponse: it has no status line.
    """
    first, headers, start = parse_fields(block, 0, HEAD_LIMIT)
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
    while len(parts) < CHUNKS:
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
    raise BadResponse("bad_encoding", f"more than {CHUNKS} chunks in a chunked body")
