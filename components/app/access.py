"""Who asks: the owner of the project, or a rater with an invitation; and limits on what forms send."""

from __future__ import annotations

import hmac
import secrets
from typing import Annotated, TypeGuard
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, Request, UploadFile
from starlette.responses import RedirectResponse, Response

from components.app.owners import owners_of
from components.core.errors import HearsightError

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
