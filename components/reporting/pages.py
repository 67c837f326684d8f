"""HTML pages from Jinja templates, without scripts or external resources, and data URIs."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.check_warnings import ABOUT
from components.reporting import values
from components.reporting.values import interval, number

if TYPE_CHECKING:
    from jinja2 import Environment

SHARED = Path(__file__).parent / "data"
"""Folder of ``base.html``, its stylesheet, and shared macros."""
FILTERS: dict[str, Callable[..., str]] = {
    "count": values.count,
    "decimal": values.decimal,
    "percent": values.percent,
    "number": number,
    "interval": interval,
    "percent_interval": values.percent_interval,
}
"""Filters of templates, besides Jinja's own."""
_KINDS = {
    b"fLaC": "audio/flac",
    b"OggS": "audio/ogg",
    b"\xff\xd8\xff": "image/jpeg",
    b"\x89PNG": "image/png",
    b"GIF8": "image/gif",
}


def render(templates: Path, template: str, /, *, warnings: Sequence[str] = (), **values: Any) -> str:
    """Render a page; text is escaped in templates whose name ends in ``.html``.

    Args:
        templates: the folder of the page's own templates, which may extend and import the shared ones.
        warnings: lines of the section that ``warnings.html`` adds; without any there is no section.
        values: variables of the template.
    """
    return _environment(templates).get_template(template).render(warnings=warnings, about_warnings=ABOUT, **values)


def render_text(text: str, values: Mapping[str, Any]) -> str:
    """Render a template that is no file, as plain text; an undefined variable is an error."""
    from jinja2 import StrictUndefined  # slow to import

    return _environment(SHARED).overlay(undefined=StrictUndefined, trim_blocks=False).from_string(text).render(values)


@cache
def _environment(templates: Path) -> Environment:
    from jinja2 import Environment, FileSystemLoader, select_autoescape  # slow to import

    loader = FileSystemLoader([templates, SHARED])
    environment = Environment(loader=loader, autoescape=select_autoescape(["html"]), trim_blocks=True, lstrip_blocks=True)
    environment.filters |= FILTERS
    return environment


def data_uri(data: bytes) -> str:
    """Return an image or audio file as a data URI."""
    kind = next((kind for start, kind in _KINDS.items() if data.startswith(start)), "application/octet-stream")
    if data[:4] in (b"RIFF", b"RIFX", b"RF64"):
        kind = "image/webp" if data[8:12] == b"WEBP" else "audio/wav"
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
