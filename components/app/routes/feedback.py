"""Feedback on an alt-text: the filter rules it passes, and what it lacks as a description."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import Response

from components.app.access import protect, require_owner
from components.app.pages import language_of, render_page
from components.core.errors import HearsightError
from components.tools.feedback.feedback import MOST, feedback
from components.tools.feedback.guidelines import LANGUAGES, OUTCOMES

router = APIRouter(prefix="/feedback", dependencies=[Depends(require_owner)])


@router.get("")
def form(request: Request) -> Response:
    """Show the form."""
    return _page(request, "", language_of(request))


@router.post("", dependencies=[Depends(protect)])
def check(
    request: Request,
    text: Annotated[str, Form(max_length=4 * MOST)] = "",
    text_language: Annotated[str, Form()] = "en",
) -> Response:
    """Show the remarks on a text."""
    try:
        remarks = feedback(text, text_language, root=request.app.state.settings.root, interface=language_of(request))
    except HearsightError as error:
        return _page(request, text, text_language, 400, error=error)
    groups = [(outcome, [remark for remark in remarks if remark.outcome == outcome]) for outcome in OUTCOMES]
    return _page(request, text, text_language, groups=groups)


def _page(request: Request, text: str, text_language: str, status: int = 200, **values: Any) -> Response:
    given: dict[str, Any] = {"groups": [], "error": None} | values
    return render_page(
        request, "feedback.html", status, text=text, text_language=text_language, text_languages=LANGUAGES, longest=MOST, **given
    )
