"""HTML pages: one environment, one base template, and files inside a page. No page needs a script or anything from outside."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.check_warnings import ABOUT
from components.reporting import numbers

if TYPE_CHECKING:
    from jinja2 import Environment

SHARED = Path(__file__).parent / "data"
"""``base.html`` with its stylesheet, and macros that several pages use."""
FILTERS: dict[str, Callable[..., str]] = {
    "count": numbers.count,
    "decimal": numbers.decimal,
    "percent": numbers.percent,
    "number": numbers.number,
    "interval": numbers.interval,
}
"""What templates may use beside Jinja's own filters."""
_KINDS = {
    b"fLaC": "audio/flac",
    b"OggS": "audio/ogg",
    b"\xff\xd8\xff": "image/jpeg",
    b"\x89PNG": "image/png",
    b"GIF8": "image/gif",
}


def render(templates: Path, template: str, /, *, warnings: Sequence[str] = (), **values: Any) -> str:
    """Return a page.

    Args:
        templates: the folder of the page's own templates, which may extend and import the shared ones.
        template: its file name.
        warnings: lines for the section that ``warnings.html`` adds; there is no section without any.
        values: what the template shows; text is escaped.
    """
    return _environment(templates).get_template(template).render(warnings=warnings, about_warnings=ABOUT, **values)


@cache
def _environment(templates: Path) -> Environment:
    from jinja2 import Environment, FileSystemLoader

    loader = FileSystemLoader([templates, SHARED])
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= FILTERS
    return environment


def data_uri(data: bytes) -> str:
    """Return a picture's or recording's bytes as an address, so that a page holds the file itself."""
    kind = next((kind for start, kind in _KINDS.items() if data.startswith(start)), "application/octet-stream")
    if data[:4] in (b"RIFF", b"RIFX", b"RF64"):
        kind = "image/webp" if data[8:12] == b"WEBP" else "audio/wav"
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
