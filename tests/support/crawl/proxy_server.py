"""A web of a test's own on loopback, which answers as an HTTP proxy for any host."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass
class Answer:
    """An answer of a server; ``body`` None resets the connection."""

    status: int = 200
    body: bytes | None = b"{}"
    headers: dict[str, str] | list[tuple[str, str]] = field(default_factory=dict)
    """A list may hold a name several times."""
    type: str = "application/json; charset=utf-8"


class ProxyServer:
    """A server whose answers a subclass gives; a context manager."""

    def answer(self, url: str, headers: dict[str, str]) -> Answer:
        """Return the answer to a request; header names are in lower case."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                answer = web.answer(self.path, {name.lower(): value for name, value in self.headers.items()})
                if answer.body is None:
                    self.close_connection = True
                    return
                self.send_response_only(answer.status)
                headers = answer.headers if isinstance(answer.headers, list) else list(answer.headers.items())
                own = {"Date": self.date_time_string()}
                if answer.status != 304:
                    own |= {"Content-Type": answer.type, "Content-Length": str(len(answer.body))}
                given = {name for name, _ in headers}
                for name, value in [*((name, value) for name, value in own.items() if name not in given), *headers]:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False
            request_queue_size = 128

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def proxy(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"
