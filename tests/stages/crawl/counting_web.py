"""A web of a test's own on loopback that counts: every request with its conditions, its status and the bytes that went out.

It answers as an HTTP proxy for any host, like the sample web, but knows validators of both kinds, and hosts without any.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


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


class CountingWeb:
    """A server of URL → Thing; a context manager."""

    def __init__(self, things: dict[str, Thing] | None = None) -> None:
        self.things = dict(things or {})
        self.log: list[Asked] = []
        self.lock = threading.Lock()

    def __enter__(self) -> CountingWeb:
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                thing = web.things.get(self.path) or Thing(b"<p>nothing here", status=404, validator="none")
                status, body = thing.status, thing.body
                match, since = self.headers.get("If-None-Match"), self.headers.get("If-Modified-Since")
                if status == 200 and thing.validator == "etag" and match == thing.etag:
                    status, body = 304, b""
                if status == 200 and thing.validator == "modified" and since == thing.modified:
                    status, body = 304, b""
                with web.lock:
                    web.log.append(Asked(self.path, status, len(body), bool(match or since)))
                self.send_response(status)
                if status != 304:
                    self.send_header("Content-Type", thing.type)
                    self.send_header("Content-Length", str(len(body)))
                if thing.validator == "etag":
                    self.send_header("ETag", thing.etag)
                if thing.validator == "modified":
                    self.send_header("Last-Modified", thing.modified)
                for name, value in thing.headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def proxy(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def sent(self) -> int:
        """Bytes of bodies sent in total."""
        return sum(asked.sent for asked in self.log)
