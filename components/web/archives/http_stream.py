"""Read the body behind an http(s) address within a total time limit.

A timeout per read does not stop a server that sends a byte now and then, so the remaining time is set before every read of the
socket. robots.txt and rate limits are not applied: this reads single pages and archives named by a person.
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
"""Seconds to wait for a byte."""
SECONDS = 3600.0
"""Total seconds to wait for the bytes of one address, redirects included."""


class _Clock:
    """The remaining time."""

    def __init__(self) -> None:
        self._remaining = SECONDS

    def wait(self, sock: socket.socket, raw: Any, buffer: Any) -> int | None:
        began = time.monotonic()
        try:
            sock.settimeout(max(min(TIMEOUT, self._remaining), 0.001))
            size: int | None = raw.readinto(buffer)
            self._remaining -= time.monotonic() - began
        except TimeoutError:
            self._remaining -= time.monotonic() - began
            if self._remaining > 0:
                raise
        if self._remaining <= 0:
            raise TimeoutError(f"more than {SECONDS:g} s in all")
        return size


class _Timed(io.RawIOBase):
    def __init__(self, sock: socket.socket, clock: _Clock) -> None:
        self._sock, self._clock = sock, clock
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        return self._clock.wait(self._sock, self._raw, buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Requests(urllib.request.AbstractHTTPHandler):
    """Opens http and https addresses under a clock."""

    http_request = https_request = urllib.request.AbstractHTTPHandler.do_request_

    def __init__(self, clock: _Clock) -> None:
        super().__init__()
        self._clock = clock

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self._open(http.client.HTTPConnection, req)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self._open(http.client.HTTPSConnection, req)

    def _open(self, kind: type[http.client.HTTPConnection], req: urllib.request.Request) -> http.client.HTTPResponse:
        def respond(sock: socket.socket, *rest: Any, **more: Any) -> http.client.HTTPResponse:
            response = http.client.HTTPResponse(sock, *rest, **more)
            response.fp.close()
            response.fp = io.BufferedReader(_Timed(sock, self._clock))
            return response

        def connect(host: str, **more: Any) -> http.client.HTTPConnection:
            connection = kind(host, **more)
            connection.response_class = respond  # type: ignore[assignment]
            return connection

        return self.do_open(connect, req)


class _Redirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any) -> Any:
        fp.close()  # otherwise its body would be read, of any length
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class HttpStream:
    """The body of a GET request, and its headers.

    Raises:
        HearsightError: there is no answer, an error status, a broken transfer, or no end within ``SECONDS``.
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
            self._response: http.client.HTTPResponse = opener.open(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise HearsightError(f"no answer ({_line(error)})", where=url, hint="check the address in a browser") from None
        self.headers = self._response.headers

    def __enter__(self) -> HttpStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()

    def read(self, size: int, /) -> bytes:
        try:
            data = self._response.read(size)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise HearsightError(f"reading broke off ({_line(error)})", where=self._url, hint="try again") from None
        if not data and self._response.length:
            raise HearsightError(f"the last {self._response.length} bytes are missing", where=self._url, hint="try again")
        return data


def _line(error: Exception) -> str:
    """Return the error as one line of printable characters."""
    text = str(error) or type(error).__name__
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:300]
