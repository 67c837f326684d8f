"""Forms: protection against cross-site requests, and files with limits on size and type."""

from __future__ import annotations

import hmac
import secrets
from typing import Annotated, TypeGuard
from urllib.parse import urlsplit

from fastapi import Form, Request, UploadFile

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
