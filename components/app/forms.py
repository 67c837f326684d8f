"""Forms: protection against cross-site requests, and files with limits on size and type."""

from __future__ import annotations

import hmac
import secrets
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Form, Request, UploadFile

from components.app.security import UPLOAD_BODY
from components.core.errors import HearsightError

CSRF = "csrf"


class ForbiddenError(HearsightError):
    """A request that its sender may not make; answered with 403."""


def csrf_token(request: Request) -> str:
    """Return the session's token, which every form carries; a new session gets one."""
    return str(request.session.setdefault(CSRF, secrets.token_urlsafe(24)))


async def protect(request: Request, csrf: Annotated[str, Form()] = "") -> None:
    """Refuse a form that does not come from a page of this session; a dependency of every route that changes something.

    Raises:
        ForbiddenError: the token is missing or another session's, or a browser names another origin.
    """
    expected = str(request.session.get(CSRF, ""))
    origin = request.headers.get("origin", "")
    same_origin = not origin or urlsplit(origin).netloc == request.headers.get("host", "")
    if not expected or not same_origin or not hmac.compare_digest(expected.encode(), csrf.encode()):
        raise ForbiddenError("the form is not from this session", hint="open the page again and repeat")


async def read_upload(upload: UploadFile | None, what: str) -> bytes:
    """Return the bytes of an uploaded file.

    Raises:
        HearsightError: no file was given, or it is too large.
    """
    data = await upload.read(UPLOAD_BODY + 1) if upload is not None else b""
    if not data:
        raise HearsightError("no file was given", hint=what)
    if len(data) > UPLOAD_BODY:
        raise HearsightError(f"the file has more than {UPLOAD_BODY >> 20} MiB", hint="give a smaller one")
    return data
