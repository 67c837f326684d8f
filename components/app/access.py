"""Who asks: the owner of the project, or a rater with an invitation."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from components.app.forms import ForbiddenError
from components.app.tokens import LOGIN, LOGIN_SECONDS, verify

router = APIRouter()
OWNER = "owner"


def is_owner(request: Request) -> bool:
    """Return whether the request is the owner's: a local application has no other users."""
    return bool(request.app.state.settings.local or request.session.get(OWNER))


async def require_owner(request: Request) -> None:
    """Refuse everybody but the owner; a dependency of all pages but the rating's.

    Raises:
        ForbiddenError: nobody has logged in.
    """
    if not is_owner(request):
        raise ForbiddenError("this page is for the project's owner", hint="open the link that `hearsight app` printed")


@router.get("/login")
def login(request: Request, token: str) -> Response:
    """Log the owner in with a link that ``hearsight app`` printed."""
    verify(request.app.state.settings.secret, LOGIN, token, LOGIN_SECONDS)
    request.session.clear()
    request.session[OWNER] = True
    return RedirectResponse("/", 303)
