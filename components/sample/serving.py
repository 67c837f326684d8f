"""Serve the sample web: virtual hosts on loopback behind one real HTTP server.

It answers as a forward proxy (``GET http://gimp.sample/index.html``), so that pages keep their virtual host names and no
port gets into a record, and by ``Host`` header, so that a person can browse it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from components.core.errors import HearsightError
from components.sample.entities import HOST
from components.sample.pages import sample_sites
from components.sample.posts import PostsSite
from components.sample.sites import Reply, Site


class SampleWeb:
    """A running web of virtual hosts, as a context manager.

    Args:
        root: the project's root; its fetched packages become the two hosts of pages and the server of posts, which shows ``day``.
        hosts: instead of them, host name → :class:`Site` or a folder of static files.
        port: 0 for any free port.

    Raises:
        HearsightError: the packages are not there, or the port is taken.
    """

    def __init__(
        self, root: Path | None = None, *, hosts: Mapping[str, Site | Path] | None = None, port: int = 0, day: int = 1
    ) -> None:
        if hosts is None:
            if root is None:
                raise ValueError("SampleWeb needs a root or hosts")
            hosts = {**sample_sites(root), HOST: PostsSite(root, day)}
        self.sites = {name: site if isinstance(site, Site) else Site(Path(site)) for name, site in hosts.items()}
        self.log: list[str] = []
        """Every requested URL, in the order of arrival."""
        self._port = port
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def requests(self) -> int:
        """Number of requests so far."""
        return len(self.log)

    @property
    def proxy(self) -> str:
        """The address to use as an HTTP proxy."""
        assert self._server is not None, "the sample web is not running"
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> SampleWeb:
        try:
            self._server = _Server(("127.0.0.1", self._port), _Handler)
        except OSError as error:
            raise HearsightError(
                f"cannot listen on 127.0.0.1:{self._port} ({error.strerror})", where="sample web", hint="name another port, or 0"
            ) from None
        self._server.web = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="sample-web", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join(5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    web: SampleWeb

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that close the connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "HearsightSample/1"
    sys_version = ""
    # One packet an answer: with Nagle's algorithm each small one would wait 40 ms for the last acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        if self.path.startswith("http://"):
            parts = urlsplit(self.path)
            host, target = parts.hostname or "", (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        else:
            host, target = (self.headers.get("Host") or "").partition(":")[0].lower(), self.path
        web = self.server.web
        web.log.append(f"http://{host}{target}")
        site = web.sites.get(host)
        if site is None:
            self._send(self._unknown(host) if target == "/" else Reply(502, f"no host {host} here".encode(), "text/plain"))
            return
        reply = site.answer(target)
        if reply.delay:
            time.sleep(reply.delay)
        if reply.reset:
            self.close_connection = True
            return
        known = self.headers.get("If-None-Match")
        if reply.status == 200 and known and known == reply.headers.get("ETag"):
            reply = Reply(304, b"", reply.type, reply.headers)
        self._send(reply)

    do_HEAD = do_GET

    def do_CONNECT(self) -> None:
        self._send(Reply(502, b"the sample web speaks plain HTTP only", "text/plain"))

    def _unknown(self, host: str) -> Reply:
        """Return the hosts and how to browse them, for a browser without the proxy."""
        names = "".join(f"<li>{name}" for name in self.server.web.sites)
        text = (
            f"<!doctype html><title>Sample web</title><p>Set this address as your HTTP proxy, then open one of:<ul>{names}</ul>"
        )
        return Reply(200 if host in ("127.0.0.1", "localhost") else 502, text.encode())

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in {"Content-Type": reply.type, **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD" and reply.status != 304:
            self.wfile.write(reply.body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: the crawl has its own progress."""


def folder_sites(folder: Path) -> dict[str, Site | Path]:
    """Return the hosts of a folder with one folder of static files per host."""
    hosts: dict[str, Site | Path] = (
        {path.name: path for path in sorted(folder.glob("*")) if path.is_dir()} if folder.is_dir() else {}
    )
    if not hosts:
        raise HearsightError("holds no host folders", where=folder, hint="let web.root name a folder of <host>/ folders")
    return hosts


def serve(root: Path, port: int = 8800) -> None:
    """Serve the sample web until interrupted, for a person to browse."""
    with SampleWeb(root, port=port) as web:
        print(f"sample web at {web.proxy} (set it as HTTP proxy): {' '.join(f'http://{name}/' for name in web.sites)}")
        print(f"for example: curl -x {web.proxy} http://{next(iter(web.sites))}/    (Ctrl-C ends it)")
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            return
