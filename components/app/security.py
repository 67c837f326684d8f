"""Protection of every request: Host header, size of the body, rate limits, and headers of the answer.

Each is an ASGI middleware without buffering. Sessions are signed by Starlette's SessionMiddleware; forms are protected in
:mod:`components.app.access`.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from components.app.access import Owners

FILES = "/files/"
"""Path below which the pages that stages wrote are served; they have styles in the page."""
STRICT = "default-src 'none'; img-src 'self' data: blob:; media-src 'self' data: blob:; style-src 'self'; script-src 'self'; \
connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
RELAXED = "default-src 'none'; img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; \
style-src 'self' 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
"""No scripts: Great Expectations writes values of the web into its pages as they are, and its own scripts need other hosts."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "permissions-policy": "microphone=(self), camera=(), geolocation=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
SMALL_BODY = 64 << 10
"""Bytes of a request without a file."""
UPLOAD_PATHS = ("/search", "/describe")
UPLOAD_BODY = 20 << 20
"""Bytes of a request with a file."""


def secure(headers: MutableHeaders, path: str, https: bool) -> None:
    """Add the security headers that an answer lacks; pages are not stored by caches."""
    policy = {"content-security-policy": RELAXED if path.startswith(FILES) else STRICT, "cache-control": "no-store"}
    transport = {"strict-transport-security": "max-age=31536000"} if https else {}
    for name, value in (HEADERS | policy | transport).items():
        headers.setdefault(name, value)


class SecurityHeaders:
    """Adds security headers to every answer but that of a failure, which is made outside of all middleware."""

    def __init__(self, app: ASGIApp, https: bool) -> None:
        self.app, self.https = app, https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                secure(MutableHeaders(scope=message), scope["path"], self.https)
            await send(message)

        await self.app(scope, receive, send_with_headers)


class BodyLimit:
    """Refuses a body that is too large, by its declared and by its real size.

    Args:
        owners: only the owner sends files: a form is read before its sender is checked.
    """

    def __init__(self, app: ASGIApp, owners: Owners) -> None:
        self.app, self.owners = app, owners

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        files = scope["path"].startswith(UPLOAD_PATHS) and self.owners.knows(HTTPConnection(scope))
        limit = UPLOAD_BODY if files else SMALL_BODY
        declared = Headers(scope=scope).get("content-length", "0")
        refusal = PlainTextResponse(f"The request has more than {limit >> 10} KiB.", 413, {"connection": "close"})
        if not declared.isdigit() or int(declared) > limit:
            await refusal(scope, receive, send)
            return
        received, started = 0, False

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise _TooLargeError
            return message

        async def note_start(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, counted, note_start)
        except _TooLargeError:
            if not started:
                await refusal(scope, receive, send)


class _TooLargeError(Exception):
    """The body exceeds the limit."""


class RateLimit:
    """A token bucket for each client and area.

    Args:
        limits: path prefix → (requests a minute, requests at once); the first matching prefix counts. Other paths are free.
        clock: seconds; replaced by tests.
    """

    MOST_CLIENTS = 10_000

    def __init__(self, app: ASGIApp, limits: dict[str, tuple[float, float]], clock: Callable[[], float] = time.monotonic) -> None:
        self.app, self.limits, self.clock = app, limits, clock
        self.buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        """(area, client) → (requests left, when that was)."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        area = next((prefix for prefix in self.limits if scope.get("path", "").startswith(prefix)), "")
        if scope["type"] == "http" and area and not self._take(area, _client(scope)):
            answer = PlainTextResponse("Too many requests. Wait a minute.", 429, {"retry-after": "60"})
            await answer(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _take(self, area: str, client: str) -> bool:
        a_minute, at_once = self.limits[area]
        now = self.clock()
        left, then = self.buckets.pop((area, client), (at_once, now))
        left = min(at_once, left + (now - then) * a_minute / 60)
        self.buckets[area, client] = (left - 1 if left >= 1 else left, now)
        while len(self.buckets) > self.MOST_CLIENTS:
            self.buckets.popitem(last=False)
        return left >= 1


def _client(scope: Scope) -> str:
    """Return who asks: a session's rater, so that raters behind one address do not slow each other; else the address."""
    session = scope.get("session") or {}
    return str(session.get("rater") or (scope.get("client") or ("",))[0])
