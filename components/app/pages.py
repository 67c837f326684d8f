"""Pages from templates, in the language of the interface, and the page of an error."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.responses import HTMLResponse, RedirectResponse, Response

from components.app.access import is_owner
from components.app.forms import csrf_token, protect
from components.app.translations import LANGUAGES, choose_language, translate
from components.reporting.pages import FILTERS

FOLDER = Path(__file__).parent / "data" / "templates"
LANGUAGE = "language"
router = APIRouter()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        undefined=StrictUndefined,
    )
    environment.filters |= FILTERS
    return environment


def language_of(request: Request) -> str:
    """Return the language of the interface for this request."""
    return choose_language(request.session.get(LANGUAGE), request.headers.get("accept-language", ""))


def render_page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a template.

    Every template has ``t`` (translate), ``language``, ``languages``, ``csrf``, ``owner`` and ``path``, besides ``values``.
    """
    language = language_of(request)
    common = {
        "t": partial(translate, language),
        "language": language,
        "languages": LANGUAGES,
        "csrf": csrf_token(request),
        "owner": is_owner(request),
        "path": request.url.path,
    }
    return HTMLResponse(_environment().get_template(template).render(**common, **values), status)


def render_error(request: Request, status: int, message: str, hint: str = "") -> HTMLResponse:
    """Render the page of an error: what happened, and what to do."""
    return render_page(request, "error.html", status, message=message, hint=hint)


@router.post("/language", dependencies=[Depends(protect)])
def set_language(request: Request, language: Annotated[str, Form()], back: Annotated[str, Form()] = "/") -> Response:
    """Choose the language of the interface, and return to the page."""
    if language in LANGUAGES:
        request.session[LANGUAGE] = language
    safe = back.startswith("/") and not back.startswith(("//", "/\\"))  # never to another site
    return RedirectResponse(back if safe else "/", 303)
