"""The application: middleware, routes and pages of errors; and its running until Ctrl-C, with limited time for each client.

uvicorn closes a connection between two requests, but not one whose request is unfinished or whose answer nobody reads: clients
that are slow on purpose or by accident.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import h11
import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.sessions import SessionMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from components.app import access, pages
from components.app.access import Owners
from components.app.routes import ROUTERS
from components.app.security import BodyLimit, RateLimit, SecurityHeaders, secure
from components.app.services import Services
from components.app.settings import AppSettings
from components.core.errors import HearsightError

STATIC = Path(__file__).parent / "data" / "static"
SESSION_SECONDS = 14 * 24 * 3600
LIMITS = {
    "/login": (10.0, 10.0),
    "/rate/invitation": (120.0, 120.0),
    "/rate": (600.0, 300.0),  # a rating is three requests: its form, the next page and the image
    "/search": (60.0, 20.0),
    "/describe": (60.0, 20.0),
    "/feedback": (60.0, 20.0),
}
"""Area → (requests a minute, requests at once) of one client."""
log = logging.getLogger(__name__)


def create_app(settings: AppSettings) -> FastAPI:
    """Return the application of a project."""
    services, owners = Services(settings), Owners(settings.token)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        services.close()

    app = FastAPI(title="Hearsight", openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.settings, app.state.services, app.state.owners = settings, services, owners
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    for router in (access.router, pages.router, *ROUTERS):
        app.include_router(router)
    # The last one added sees a request first.
    app.add_middleware(BodyLimit, owners=owners)
    app.add_middleware(RateLimit, limits=LIMITS)
    app.add_middleware(
        SessionMiddleware, secret_key=settings.secret, session_cookie=settings.cookie, max_age=SESSION_SECONDS, same_site="lax",
        https_only=settings.https,
    )  # fmt: skip
    hosts = [f"[{host}]" if ":" in host else host for host in settings.hosts]  # as the header Host has addresses of IPv6
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    app.add_middleware(SecurityHeaders, https=settings.https)
    app.add_exception_handler(HearsightError, _refuse)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _failure)
    return app


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, HearsightError)
    status = pages.status_of(error)
    if status > 500:
        log.error("%s could not be answered: %s", request.url.path, error)
    again = await request.form() if request.method == "POST" else {}
    return pages.render_error(request, status, error.what, error.hint, {} if status < 500 else _texts(again))


def _texts(form: Mapping[str, object]) -> dict[str, str]:
    """Return a form's fields; none if it has a file, which no page can send again."""
    texts = {name: value for name, value in form.items() if isinstance(value, str)}
    return texts if len(texts) == len(form) else {}


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return pages.render_error(request, error.status_code, str(error.detail))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    fields = ", ".join(str(part["loc"][-1]) for part in error.errors())
    return pages.render_error(request, 400, f"the form lacks or has a wrong value for: {fields}")


async def _failure(request: Request, error: Exception) -> Response:
    log.error("the application failed at %s", request.url.path, exc_info=error)
    answer = pages.render_error(request, 500, "the application failed", "the log of the application has the reason")
    secure(answer.headers, request.url.path, request.app.state.settings.https)
    return answer


MOST = 512
"""Connections at once. Beyond them, the one that has waited longest for its client is ended."""
HEADER_SECONDS = 10.0
"""From the connection, or the answer before, to the end of a request's header."""
BODY_SECONDS = 120.0
"""From the end of the header to that of the body: 20 MiB at 1.4 Mbit/s."""
READ_SECONDS = 30.0
"""How long a client may read nothing of an answer that does not fit the buffers."""


class BoundedConnection(H11Protocol):
    """uvicorn's HTTP/1.1 with deadlines for the client; the application's own time is not limited."""

    _awaited = 0.0
    """Seconds for what the client has to do now; 0 while the application works."""
    _since = 0.0
    """When that began, in the loop's time."""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a header; make room where there are too many connections."""
        super().connection_made(transport)
        self._follow()
        if len(self.connections) > most_connections():
            waiting = [each for each in self.connections if isinstance(each, BoundedConnection) and each._awaited]
            oldest = min(waiting, key=lambda each: each._since)
            self.connections.discard(oldest)  # it would be chosen again until the loop has ended it
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._wait(0.0)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        """Begin with the next request."""
        super().on_response_complete()
        self._follow()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._follow()

    def resume_writing(self) -> None:
        """Go on writing."""
        super().resume_writing()
        self._follow()

    def _follow(self) -> None:
        """Set the deadline for what the client has to do now, if that is another thing than before."""
        state = self.conn.their_state
        if self.flow.write_paused or self.transport.is_closing() or state is h11.ERROR:
            seconds = READ_SECONDS
        else:
            seconds = {h11.IDLE: HEADER_SECONDS, h11.SEND_BODY: BODY_SECONDS}.get(state, 0.0)
        if seconds != self._awaited:
            self._wait(seconds)

    def _wait(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._awaited, self._since = seconds, self.loop.time()
        # Not closed: that waits until the client has read what was written.
        self._timer = self.loop.call_later(seconds, self.transport.abort) if seconds else None


def most_connections() -> int:
    """Return how many connections there may be at once: at most half of the files that this process may open."""
    return min(MOST, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


SWITCH_SECONDS = 0.0005
"""How long a thread may keep others from running; with Python's 5 ms, many requests at once delay each other."""


def open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, so that a taken port is found before anything is loaded; port 0 takes a free one.

    Raises:
        HearsightError: the address cannot be used.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # With the protocol named, asyncio sends small parts of answers at once (TCP_NODELAY); else each waits 40 ms.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)  # so that nobody is refused once the address is printed
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise HearsightError(f"port {port}: {reason}", where=host, hint="choose another with --port") from None
    return listening


def serve(settings: AppSettings, listening: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM; requests in flight are answered first."""
    sys.setswitchinterval(SWITCH_SECONDS)
    new_server(create_app(settings), settings).run(sockets=[listening])


def new_server(app: FastAPI, settings: AppSettings) -> uvicorn.Server:
    """Return the server of an application."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=BoundedConnection,
            log_level="warning",
            access_log=False,
            proxy_headers=settings.https,
            timeout_graceful_shutdown=10,
        )
    )
