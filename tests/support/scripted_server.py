"""A server on loopback that records its requests and answers each with a reply of ours, faulty ones included."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass
class Reply:
    """One answer over HTTP."""

    status: int = 200
    content: Any = None
    """JSON, or bytes as they are."""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """s before it is sent"""
    cut: bool = False
    """Whether the connection ends before the body does."""


class ScriptedServer:
    """The server; ``script`` may answer first (None lets the server answer as usual)."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        """(path without its query, headers, JSON) of each request, in order."""
        self.script: Callable[[int, str, Any], Reply | None] = lambda number, path, body: None
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator[Self]:
        """Serve in a thread."""
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()

    def answer(self, path: str, body: Any) -> Reply:
        """Return the usual answer."""
        raise NotImplementedError

    def page(self, path: str) -> Reply:
        """Return the answer to a GET, which is not recorded."""
        return Reply(404, {})

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                path = self.path.partition("?")[0]
                body = json.loads(data) if data.startswith(b"{") else data.decode()
                with outer._lock:
                    number = len(outer.requests)
                    outer.requests.append((path, dict(self.headers.items()), body))
                    outer.at_once += 1
                    outer.most_at_once = max(outer.most_at_once, outer.at_once)
                try:
                    reply = outer.script(number, path, body) or outer.answer(path, body)
                    time.sleep(reply.delay)
                finally:
                    with outer._lock:
                        outer.at_once -= 1
                self._send(reply)

            def do_GET(self) -> None:
                self._send(outer.page(self.path.partition("?")[0]))

            def _send(self, reply: Reply) -> None:
                content = reply.content if isinstance(reply.content, bytes) else json.dumps(reply.content).encode()
                try:
                    self.send_response(reply.status)
                    self.send_header("Content-Type", "application/json; charset=UTF-8")
                    self.send_header("Content-Length", str(len(content) + (100 if reply.cut else 0)))
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(content)
                except (BrokenPipeError, ConnectionResetError):
                    pass
                if reply.cut:
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                pass

        return Handler
