"""The body behind an http(s) address, with a limit on the time that waiting for it may take in all.

A timeout of each read does not end a server that sends a byte now and then, be it in its head or its body; so the time
left is set before every read of the socket. Not in scope: robots.txt and rate limits, which one page does not need.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
import urllib.request
from typing import Any

from components.core.errors import HearsightError

TIMEOUT = 60.0
"""Seconds without a byte."""
SECONDS = 3600.0
"""Seconds spent waiting for the bytes of one address in all, redirects included."""


class _Clock:
    """The time left."""

    def __init__(self) -> None:
        self._left = SECONDS

    def wait(self, sock: socket.socket, raw: Any, into: Any) -> int | None:
        """Read from the socket, no longer than there is time."""
        began = time.monotonic()
        try:
            sock.settimeout(max(min(TIMEOUT, self._left), 0.001))
            size: int | None = raw.readinto(into)
            self._left -= time.monotonic() - began
        except TimeoutError:
            self._left -= time.monotonic() - began
            if self._left > 0:
                raise
        if self._left <= 0:
            raise TimeoutError(f"more than {SECONDS:g} s in all")
        return size


class _Timed(io.RawIOBase):
    """What a socket receives, under a clock."""

    def __init__(self, sock: socket.socket, clock: _Clock) -> None:
        self._sock, self._clock = sock, clock
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int | None:
        return self._clock.wait(self._sock, self._raw, into)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _response(clock: _Clock) -> Any:
    def make(sock: socket.socket, *rest: Any, **more: Any) -> http.client.HTTPResponse:
        response = http.client.HTTPResponse(sock, *rest, **more)
        response.fp.close()
        response.fp = io.BufferedReader(_Timed(sock, clock))
        return response

    return make


class _Requests(urllib.request.AbstractHTTPHandler):
    """Open http and https addresses under a clock."""

    http_request = https_request = urllib.request.AbstractHTTPHandler.do_request_

    def __init__(self, clock: _Clock) -> None:
        super().__init__()
        self._clock = clock

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self._open(http.client.HTTPConnection, req)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self._open(http.client.HTTPSConnection, req)

    def _open(self, kind: type[http.client.HTTPConnection], req: urllib.request.Request) -> http.client.HTTPResponse:
        def connect(host: str, **more: Any) -> http.client.HTTPConnection:
            connection = kind(host, **more)
            connection.response_class = _response(self._clock)
            return connection

        return self.do_open(connect, req)


class _Redirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any) -> Any:
        fp.close()  # or it would be read, however long it is
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class HttpStream:
    """The body of a GET request, and its headers.

    Raises:
        HearsightError: no answer, one of failure, one that breaks off, or none in ``SECONDS``.
    """

    def __init__(self, url: str) -> None:
        self._url, clock = url, _Clock()
        opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.ProxyHandler(),
            urllib.request.UnknownHandler(),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPErrorProcessor(),
            _Redirects(),
            _Requests(clock),
        ):
            opener.add_handler(handler)
        headers = {"User-Agent": "hearsight pairs", "Accept": "text/html,*/*;q=0.1"}
        try:
            self._answer: http.client.HTTPResponse = opener.open(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise HearsightError(f"no answer ({_line(error)})", where=url, hint="look at the address in a browser") from None
        self.headers = self._answer.headers

    def __enter__(self) -> HttpStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._answer.close()

    def read(self, size: int, /) -> bytes:
        """As :class:`components.web.archives.opening.Stream`."""
        try:
            data = self._answer.read(size)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise HearsightError(f"reading broke off ({_line(error)})", where=self._url, hint="try again") from None
        if not data and self._answer.length:
            raise HearsightError(f"the last {self._answer.length} bytes did not come", where=self._url, hint="try again")
        return data


def _line(error: Exception) -> str:
    """One line of printable characters."""
    text = str(error) or type(error).__name__
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:300]
