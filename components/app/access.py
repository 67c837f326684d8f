"""Who asks: the owner of the project, or a rater with an invitation; and limits on what forms send."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from typing import Annotated, TypeGuard
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, Request, UploadFile
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response

from components.core.errors import HearsightError

OWNER = "owner"
"""Key of the session: the identifier of an owner's session here."""
SESSION_SECONDS = 12 * 3600
"""Life of an owner's session from the login on; using it does not prolong it."""


class Owners:
    """Knows the owner of one running application, by a token that is random for each start, and the sessions that it began.

    The sessions are kept here, not in cookies: logging out ends one everywhere, and a restart ends all.

    Args:
        token: makes its holder the owner.
        clock: seconds since 1970; replaced by tests.
    """

    def __init__(self, token: str, clock: Callable[[], float] = time.time) -> None:
        self._token, self.clock = token, clock
        self._ends: dict[str, float] = {}

    def holds(self, token: str) -> bool:
        """Return whether a text is the token; takes as long for every text."""
        return hmac.compare_digest(token.encode(), self._token.encode())

    def sends_token(self, connection: HTTPConnection) -> bool:
        """Return whether a request has the token in its header ``Authorization``, which no page of another site can set."""
        kind, _, token = connection.headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self.holds(token.strip())

    def knows(self, connection: HTTPConnection) -> bool:
        """Return whether a request is the owner's: it has the token, or a session that has neither ended nor expired."""
        ends = self._ends.get(str(connection.session.get(OWNER, "")), 0.0)
        return self.clock() < ends or self.sends_token(connection)

    def log_in(self, connection: HTTPConnection) -> None:
        """Begin a session; what the browser's cookie held before is dropped."""
        now = self.clock()
        self._ends = {session: ends for session, ends in self._ends.items() if now < ends}
        session = secrets.token_urlsafe(24)
        self._ends[session] = now + SESSION_SECONDS
        connection.session.clear()
        connection.session[OWNER] = session

    def log_out(self, connection: HTTPConnection) -> None:
        """End a session, also in copies of its cookie."""
        self._ends.pop(str(connection.session.get(OWNER, "")), None)
        connection.session.clear()


def owners_of(connection: HTTPConnection) -> Owners:
    """Return what knows the owner of the application that got a request."""
    owners: Owners = connection.app.state.owners
    return owners


CSRF = "csrf"


class ForbiddenError(HearsightError):
    """A request that its sender may not make; answered with 403."""


def csrf_token(request: Request) -> str:
    """Return the session's token, which every form carries; a new session gets one."""
    return str(request.session.setdefault(CSRF, secrets.token_urlsafe(24)))


async def protect(request: Request, csrf: Annotated[str, Form()] = "") -> None:
    """Refuse a form that does not come from a page of this session; a dependency of every route that changes something.

    A program that sends the owner's token in a header needs no page.

    Raises:
        ForbiddenError: the token is missing or another session's, or a browser names another origin.
    """
    if owners_of(request).sends_token(request):
        return
    expected = str(request.session.get(CSRF, ""))
    origin = request.headers.get("origin", "")
    same_origin = not origin or urlsplit(origin).netloc == request.headers.get("host", "")
    if not expected or not same_origin or not hmac.compare_digest(expected.encode(), csrf.encode()):
        raise ForbiddenError("the form is not from this session", hint="open the page again and repeat")


def is_file(upload: UploadFile | None) -> TypeGuard[UploadFile]:
    """Return whether somebody chose a file in a form."""
    return upload is not None and bool(upload.filename)


router = APIRouter()
HINT = "open the link that `hearsight app` or `make ui` printed at its last start; its token is in .hearsight/app/token"


def is_owner(request: Request) -> bool:
    """Return whether the request is the owner's."""
    return owners_of(request).knows(request)


async def require_owner(request: Request) -> None:
    """Refuse everybody but the owner; a dependency of all pages but the rating's.

    Raises:
        ForbiddenError: nobody has logged in, or the session has ended.
    """
    if not is_owner(request):
        raise ForbiddenError("this page is for the project's owner", hint=HINT)


@router.get("/login")
def login(request: Request, token: str) -> Response:
    """Log the owner in with the start link, and leave the address that has the token."""
    if not owners_of(request).holds(token):
        raise ForbiddenError("this link is not valid", hint=HINT)
    owners_of(request).log_in(request)
    return RedirectResponse("/", 303)
