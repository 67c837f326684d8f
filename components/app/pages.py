"""Pages from templates, in the language of the interface, and the page of an error."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import yaml
from fastapi import APIRouter, Depends, Form, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.responses import HTMLResponse, RedirectResponse, Response

from components.app.access import ForbiddenError, csrf_token, is_owner, owners_of, protect, require_owner
from components.app.uploads import BusyError
from components.core.errors import HearsightError
from components.ratings.assignment import RevokedError
from components.ratings.faults import DatabaseError, DatabaseFullError
from components.reporting.pages import FILTERS

TEXTS = Path(__file__).parent / "data" / "translations"
LANGUAGES = {"en": "English", "pt": "Português"}
"""Language of the interface → its own name."""
DEFAULT = "en"


@cache
def texts(language: str) -> dict[str, str]:
    """Return name → text in a language of :data:`LANGUAGES`; each file of the folder holds some of the texts."""
    merged: dict[str, str] = {}
    for path in sorted(TEXTS.glob(f"*.{language}.yaml")):
        merged |= yaml.safe_load(path.read_text(encoding="utf-8"))
    return merged


def translate(language: str, name: str, /, **values: object) -> str:
    """Return the text with its values; raises KeyError for a name that the translations lack."""
    return texts(language)[name].format(**values)


def choose_language(chosen: str | None, accepted: str) -> str:
    """Return the interface's language: the chosen one, else the first one that the browser accepts (``Accept-Language``)."""
    if chosen in LANGUAGES:
        return str(chosen)
    for part in accepted.split(","):
        language = part.split(";")[0].strip().lower().partition("-")[0]
        if language in LANGUAGES:
            return language
    return DEFAULT


FOLDER = Path(__file__).parent / "data" / "templates"
LANGUAGE = "language"
STATUS: dict[type[HearsightError], int] = {
    ForbiddenError: 403,
    RevokedError: 403,
    BusyError: 503,
    DatabaseFullError: 507,
    DatabaseError: 503,
}
"""Error → status of its answer, the first that fits; others have 400."""
RETRY_SECONDS = "10"
"""When to ask again what was answered with 503."""
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
    headers = {"retry-after": RETRY_SECONDS} if status == 503 else {}
    return HTMLResponse(_environment().get_template(template).render(**common, **values), status, headers)


def render_error(
    request: Request, status: int, message: str, hint: str = "", again: Mapping[str, str] | None = None
) -> HTMLResponse:
    """Render the page of an error: what happened, what to do, and a button that sends the fields ``again`` of a form again."""
    return render_page(request, "error.html", status, message=message, hint=hint, again=again)


def status_of(error: HearsightError) -> int:
    """Return the status of the answer to a request that failed with this error."""
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 400)


@router.post("/language", dependencies=[Depends(protect)])
def set_language(request: Request, language: Annotated[str, Form()], back: Annotated[str, Form()] = "/") -> Response:
    """Choose the language of the interface, and return to the page."""
    if language in LANGUAGES:
        request.session[LANGUAGE] = language
    safe = back.startswith("/") and not back.startswith(("//", "/\\"))  # never to another site
    return RedirectResponse(back if safe else "/", 303)


@router.post("/logout", dependencies=[Depends(require_owner), Depends(protect)])
def log_out(request: Request) -> Response:
    """End the owner's session, in every copy of its cookie."""
    owners_of(request).log_out(request)
    return render_page(request, "left.html", explained="left_owner")
