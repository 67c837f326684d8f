"""A web of a test's own on loopback that counts: every request with its conditions, its status and the bytes that went out.

It answers as an HTTP proxy for any host, like the sample web, but knows validators of both kinds, and hosts without any.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.support.crawl.proxy_server import Answer, ProxyServer


@dataclass
class Thing:
    """Content of one URL."""

    body: bytes
    type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: list[tuple[str, str]] = field(default_factory=list)
    validator: str = "etag"
    """etag | modified | none"""
    modified: str = "Mon, 02 Nov 2026 10:00:00 GMT"

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'


class Asked(NamedTuple):
    """One request."""

    url: str
    status: int
    sent: int
    """Bytes of the body that were sent."""
    conditional: bool


class CountingWeb(ProxyServer):
    """A server of URL → Thing; a context manager."""

    def __init__(self, things: dict[str, Thing] | None = None) -> None:
        self.things = dict(things or {})
        self.log: list[Asked] = []
        self.lock = threading.Lock()

    def answer(self, url: str, headers: dict[str, str]) -> Answer:
        thing = self.things.get(url) or Thing(b"<p>nothing here", status=404, validator="none")
        status, body = thing.status, thing.body
        match, since = headers.get("if-none-match"), headers.get("if-modified-since")
        validators = {"etag": {"ETag": thing.etag}, "modified": {"Last-Modified": thing.modified}}.get(thing.validator, {})
        if status == 200 and thing.validator == "etag" and match == thing.etag:
            status, body = 304, b""
        if status == 200 and thing.validator == "modified" and since == thing.modified:
            status, body = 304, b""
        with self.lock:
            self.log.append(Asked(url, status, len(body), bool(match or since)))
        return Answer(status, body, [*validators.items(), *thing.headers], thing.type)

    @property
    def sent(self) -> int:
        """Bytes of bodies sent in total."""
        return sum(asked.sent for asked in self.log)
