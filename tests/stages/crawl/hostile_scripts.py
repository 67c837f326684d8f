"""Server scripts of the hostile web: sequences of raw bytes that a loopback server sends for a path."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.web.raw_web import Script, head

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Case:
    """One behaviour of a server and the ledger rule it leads to."""

    what: str
    """Description."""
    script: Script
    rule: str = ""
    """Rule of its ledger row; '' for kept; several, separated by a space, where timing decides."""


def page(body: str | bytes = "<p>A page.", *lines: str, kind: str = HTML) -> Script:
    """Return a script for a valid answer with further header lines."""
    data = body.encode() if isinstance(body, str) else body
    return lambda _: [head(200, kind, len(data), *lines), data]


def raw(*pieces: bytes | None) -> Script:
    """Return a script that sends exactly these bytes; None resets the connection."""
    return lambda _: pieces  # type: ignore[return-value]


def endless(first: bytes, piece: bytes) -> Script:
    """Return a script that sends ``first`` and then ``piece`` without end."""

    def script(_: int) -> Iterator[bytes]:
        yield first
        while True:
            yield piece
            time.sleep(0.002)  # leaves processor time to the crawl

    return script


def trickle(first: bytes) -> Script:
    """Return a script that sends single bytes for longer than any crawl waits."""

    def script(_: int) -> Iterator[bytes]:
        yield first
        for _second in range(600):
            time.sleep(0.2)
            yield b"x"

    return script


def silent(_: int) -> Iterator[bytes]:
    """Send nothing for longer than any crawl waits."""
    for _second in range(600):
        time.sleep(0.2)
        yield b""


def redirect(to: bytes | None, status: int = 302) -> Script:
    """Return a script for a redirect to exactly these bytes; None omits the Location header."""
    line = b"" if to is None else b"Location: " + to + b"\r\n"
    return raw(b"HTTP/1.1 %d Moved\r\n%sContent-Length: 0\r\nConnection: close\r\n\r\n" % (status, line))


def encoded(coding: str, body: bytes) -> Script:
    """Return a script for a page in a content encoding."""
    return page(body, f"Content-Encoding: {coding}")
