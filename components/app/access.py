"""Who asks: the owner of the project, or a rater with an invitation."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from components.app.forms import ForbiddenError
from components.app.owners import owners_of

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
