"""Read alt-texts with verdicts: JSON lines or CSV with ``text``, ``verdict`` (keep or drop), and optionally the page.

``hearsight calibrate --labelled`` measures the rules on them, ``hearsight train-description`` learns from them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from components.core.errors import HearsightError
from components.core.text_encoding import parse_json_lines, read_text
from components.web.html.context import Context
from components.web.html.page import fold

VERDICTS = {"keep": True, "kept": True, "yes": True, "1": True, "drop": False, "dropped": False, "no": False, "0": False}
HINT = 'give JSON lines such as {"text": "A dog.", "verdict": "keep"}, or CSV with the columns text and verdict'
_TRUE = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True)
class Labelled:
    """An alt-text, whether a person would keep it as a description, and where it stood."""

    text: str
    keep: bool
    site: str
    """Host of its page, or what the file calls its site; the text itself without either."""
    context: Context | None


def read_labelled(path: Path) -> list[Labelled]:
    """Return the alt-texts of a file, in order.

    Raises:
        HearsightError: the file cannot be read, or a line has no text or no verdict.
    """
    content = read_text(path, HINT)
    as_json = content.lstrip().startswith("{")
    rows = parse_json_lines(content, path, HINT) if as_json else enumerate(csv.DictReader(io.StringIO(content)), 2)
    return [_labelled(row, f"{path}, line {line}") for line, row in rows]


def _labelled(row: Mapping[str, Any], where: str) -> Labelled:
    text, verdict = fold(str(row.get("text") or row.get("alt") or "")), str(row.get("verdict") or "").strip().lower()
    if not text or verdict not in VERDICTS:
        raise HearsightError(f"has {'no verdict keep or drop' if text else 'no text'}", where=where, hint=HINT)
    page = str(row.get("page") or "")
    return Labelled(text, VERDICTS[verdict], str(row.get("site") or urlsplit(page).hostname or page or text), _context(row))


def _context(row: Mapping[str, Any]) -> Context | None:
    """Return the context under ``context``, or of columns named like its fields; None where a row has neither."""
    given = row.get("context")
    values = given if isinstance(given, dict) else row
    known = {field.name: values[field.name] for field in fields(Context) if values.get(field.name) not in (None, "")}
    if not known:
        return Context() if isinstance(given, dict) else None
    for name in ("control", "figcaption_agrees"):
        if name in known:
            known[name] = _TRUE.get(str(known[name]).lower(), False)
    for name in ("layout_width", "layout_height", "site_count"):
        if name in known:
            known[name] = int(known[name])
    return Context(**known)
