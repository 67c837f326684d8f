"""Parse the heads of WARC records and HTTP responses; read a response: its head, and its body without encodings.

Archives differ: Common Crawl stores decoded bodies and renames the headers; other crawlers store the bytes as sent, or decoded
bodies with the original headers. A body that does not begin as its header states is used unchanged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from components.web.archives.encodings import BadRecord, decode_body
from components.web.challenges import HEADERS as CHALLENGE_HEADERS
from components.web.charset import parse_charset
from components.web.consent.statements import Statement, parse_header_statements
from components.web.warc import SIGNAL_HEADERS, join_signals

HEAD_LIMIT = 1 << 18
"""Maximum bytes of a response's head."""
CHUNKS = 100_000
"""Maximum chunks of a chunked body."""
ROBOTS = b"x-robots-tag"
"""The header of which each one may address another robot."""
TDM = b"tdm-reservation"
HTML = (b"text/html", b"application/xhtml+xml")
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,1000})?\r?\n")


Fields = dict[bytes, bytes]

LINES = 1000
"""Maximum lines of a head. (Real ones have about 20.)"""
_BLANK = b" \t\r"
_EMPTY_LINE = re.compile(rb"\n\r?\n")
_NAMES = rb"warc-(?:type|target-uri|segment-number)|content-(?:type|length|encoding)|transfer-encoding"
_STATING = {ROBOTS, TDM, *(name.encode() for name in (*SIGNAL_HEADERS, *CHALLENGE_HEADERS))}
_FIELD = re.compile(rb"\n[ \t]*+(%b|%b)[ \t]*+:[ \t]*+([^\n]*+)" % (_NAMES, b"|".join(sorted(_STATING))), re.I)
"""A line of a field that is read; one search costs a third of taking every line apart."""


def parse_fields(data: bytes, at: int, limit: int) -> tuple[Fields, int]:
    """Return the fields that are read, and the position after the empty line, of the head at ``at``.

    The position is -1 when there is no empty line before ``limit``, or ``LINES`` lines or more. Names are lower-case; values of
    equal names are joined by a comma, those of X-Robots-Tag by a line break. Lines may end in LF alone, as some servers write
    them. Time is linear in the head's size.
    """
    empty = _EMPTY_LINE.search(data, at, limit)
    # Without an empty line, the last line counts only if it is complete.
    end = empty.start() + 1 if empty else data.rfind(b"\n", at, limit) + 1
    after = empty.end() if empty and data.count(b"\n", at, end) < LINES else -1
    lines = _FIELD.findall(data, at, end)
    parsed: Fields = {name.lower(): value.rstrip(_BLANK) for name, value in lines}
    if len(parsed) < len(lines):
        repeated: dict[bytes, list[bytes]] = {}
        for name, value in lines:
            repeated.setdefault(name.lower(), []).append(value.rstrip(_BLANK))
        parsed = {name: (b"\n" if name == ROBOTS else b", ").join(values) for name, values in repeated.items()}
    return parsed, after


@dataclass(slots=True)
class Response:
    """An HTTP response's head and raw body; ``body`` removes the encodings."""

    status: int
    headers: Fields
    """Header names are lower-case; values of equal names are joined by a comma."""
    raw: bytes

    @property
    def html(self) -> bool:
        """Whether the response is HTML or XHTML, by its type, or by its first bytes when it states none."""
        media_type = self.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        return media_type in HTML or (not media_type and self.raw[:1024].lstrip()[:1] == b"<")

    @property
    def charset(self) -> str | None:
        """The charset of the Content-Type."""
        return parse_charset(self.headers.get(b"content-type", b"").decode("latin-1"))

    def read_statements(self) -> list[Statement]:
        """Return what the headers state about use."""
        sent = self.stating
        return parse_header_statements(sent.get("x-robots-tag", ""), sent.get("tdm-reservation", ""), join_signals(sent))

    @property
    def stating(self) -> dict[str, str]:
        """The headers that state uses or show a challenge, as text."""
        return {name.decode(): value.decode("utf-8", "replace") for name, value in self.headers.items() if name in _STATING}

    def body(self, limit: int) -> bytes:
        """Return the body without its encodings.

        Raises:
            BadRecord: an encoding is broken or unknown, or the body has more than ``limit`` bytes.
        """
        data = self.raw
        if b"chunked" in self.headers.get(b"transfer-encoding", b"").lower():
            data = _join_chunks(data)
        if b"content-encoding" in self.headers:
            data = decode_body(data, self.headers[b"content-encoding"], limit)
        if len(data) > limit:
            raise BadRecord("too_large", f"{len(data)} bytes, more than {limit}")
        return data


def parse_response(block: bytes) -> Response:
    """Return the response that a record's block holds. Raises BadRecord: the block has no status line."""
    headers, start = parse_fields(block, 0, HEAD_LIMIT)
    words = block[: block.find(b"\n")].split(None, 2)
    if start < 0 or len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit() or len(words[1]) > 4:
        raise BadRecord("bad_record", "the HTTP response has no head")
    return Response(int(words[1]), headers, block[start:])


def _join_chunks(data: bytes) -> bytes:
    """Decode a chunked body (RFC 9112, 7.1)."""
    if not _CHUNK.match(data):
        return data
    parts: list[bytes] = []
    position = 0
    while len(parts) < CHUNKS:
        size = _CHUNK.match(data, position)
        if size is None:
            raise BadRecord("bad_encoding", f"no chunk begins at byte {position} of a chunked body")
        length = int(size[1], 16)
        if length == 0:
            return b"".join(parts)
        part = data[size.end() : size.end() + length]
        parts.append(part)
        position = size.end() + length
        if len(part) < length:
            raise BadRecord("bad_encoding", "the last chunk of a chunked body is not whole")
        position += 2 if data.startswith(b"\r\n", position) else 1 if data.startswith(b"\n", position) else 0
    raise BadRecord("bad_encoding", f"more than {CHUNKS} chunks in a chunked body")
