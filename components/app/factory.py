"""The application: middleware, routes and pages of errors."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.sessions import SessionMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

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
