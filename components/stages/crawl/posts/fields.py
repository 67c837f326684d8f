"""Validated access to fields of untrusted JSON: a missing or ill-typed field raises :class:`Unfit` and nothing else.

Line breaks are kept because later steps cut captions at them; the caption is otherwise left as its author wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from components.web.budget import Budget
from components.web.html.page import SURROGATES, PageOverBudget
from components.web.html.page_limits import SMALL, call_limited

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LINE_ENDS = re.compile(r"\r\n?|\u2028|\u2029|\x85")
_HIDDEN_TAGS = frozenset(("-comment", "script", "style", "template", "head"))
_PARAGRAPH_TAGS = frozenset(("p", "ul", "ol", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6"))
_LINE_TAGS = frozenset(("div", "li", "tr"))


def clean_text(text: str) -> str:
    """Return the text with uniform line ends, without control characters and lone surrogates, stripped."""
    return _CONTROLS.sub("", _LINE_ENDS.sub("\n", SURROGATES.sub("\ufffd", text))).strip()


def html_to_text(markup: str) -> str:
    """Return the text that a post's HTML shows: ``<br>`` a line break, ``<p>`` a paragraph (an empty line between two).

    Links keep their spelling. Of markup that exceeds the budget of a page, only the beginning is converted.
    """
    if "<" not in markup and "&" not in markup:
        return clean_text(markup)
    if len(markup) <= SMALL:
        return _parse_html(markup)
    try:
        return call_limited(lambda: _parse_html(markup), Budget())
    except PageOverBudget:
        return _parse_html(markup[:SMALL])


def _parse_html(markup: str) -> str:
    body = LexborHTMLParser(SURROGATES.sub("\ufffd", markup).replace("\0", "\ufffd")).body
    pieces: list[str] = []
    pending: list[object] = [body] if body is not None else []
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            pieces.append(node)
            continue
        name = node.tag  # type: ignore[attr-defined]
        if name == "-text":
            # White space in markup is one space, as browsers show it.
            pieces.append(re.sub(r"[\t\n\r ]+", " ", node.text_content or ""))  # type: ignore[attr-defined]
        elif name == "br":
            pieces.append("\n")
        elif name not in _HIDDEN_TAGS:
            mark = "\n\n" if name in _PARAGRAPH_TAGS else "\n" if name in _LINE_TAGS else ""
            inside = [*node.iter(include_text=True)]  # type: ignore[attr-defined]
            pending += [mark, *reversed(inside), mark] if mark else [*reversed(inside)]
    # Per line: a pattern of spaces before a line end takes quadratic time on long runs of spaces.
    text = "\n".join(line.strip(" ") for line in "".join(pieces).split("\n"))
    return clean_text(re.sub(r"\n{3,}", "\n\n", text))


MAX_CAPTION = 50_000
"""Maximum characters of a caption."""
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9-]*)?")
_OFFSET = re.compile(r"([+-]\d\d)(\d\d)$")


class Unfit(Exception):
    """An invalid field: ledger rule, observed value, expected value."""

    def __init__(self, rule: str, value: str, threshold: str) -> None:
        super().__init__(rule, value, threshold)
        self.rule, self.value, self.threshold = self.reason = (rule, value, threshold)


def json_type(value: Any) -> str:
    """Return the JSON name of a value's type."""
    names: dict[type, str] = {dict: "object", list: "list", str: "text", bool: "yes or no", type(None): "null"}
    return names.get(type(value), "number")


def read_object(value: Any, what: str) -> Mapping[str, Any]:
    """Return ``value`` as an object; ``what`` names it in errors; raises Unfit."""
    if not isinstance(value, dict):
        raise Unfit("wrong_type", f"{what} is {json_type(value)}", "object")
    return value


def read_list(record: Mapping[str, Any], name: str, *, required: bool = False) -> list[Any]:
    """Return a list; an empty one where it is missing or null and not ``required``; raises Unfit."""
    value = record.get(name)
    if value is None and not required:
        return []
    if not isinstance(value, list):
        raise _unfit(record, name, "list")
    return value


def read_text(record: Mapping[str, Any], name: str, *, required: bool = True) -> str:
    """Return a cleaned text; '' where it is missing or null and not ``required``; raises Unfit."""
    value = record.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise _unfit(record, name, "text")
    if required and not value.strip():
        raise Unfit("missing_field", f"{name} is empty", name)
    return clean_text(value)


def read_caption(record: Mapping[str, Any], name: str) -> str:
    """Return a caption as written; '' where it is missing or null; raises Unfit when it is not text or too long."""
    value = record.get(name)
    if isinstance(value, str) and len(value) > 8 * MAX_CAPTION:
        raise Unfit("caption_too_long", f"{len(value)} characters", f"{MAX_CAPTION} characters")
    return read_text(record, name, required=False)


def read_identifier(record: Mapping[str, Any], name: str) -> str:
    """Return an identifier: a short text without white space, or a whole number; raises Unfit."""
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**40:
        value = str(value)
    if not isinstance(value, str):
        raise _unfit(record, name, "text")
    value = clean_text(value)
    if not value or len(value) > 200 or any(char.isspace() for char in value):
        raise Unfit("missing_field" if not value else "wrong_type", f"{name} is {value[:40]!r}", "an identifier")
    return value


def read_flag(record: Mapping[str, Any], name: str) -> bool | None:
    """Return a boolean, or None where it is missing or null; raises Unfit."""
    value = record.get(name)
    if value is not None and not isinstance(value, bool):
        raise _unfit(record, name, "yes or no")
    return value


def read_time(record: Mapping[str, Any], name: str) -> str:
    """Return a date-time as ISO 8601 in UTC, whole seconds; raises Unfit."""
    value = read_text(record, name)
    try:
        time = datetime.fromisoformat(_OFFSET.sub(r"\1:\2", value))
        time = (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
        if len(value) < 10 or not 1990 <= time.year <= 9000:
            raise ValueError
    except (ValueError, OverflowError):
        raise Unfit("wrong_type", f"{name} is {value[:40]!r}", "ISO 8601") from None
    return format_time(time)


def format_time(time: datetime) -> str:
    """Return a time as records contain it: 2026-11-21T13:00:00Z."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_language(record: Mapping[str, Any], name: str = "language") -> str:
    """Return the stated language, ISO 639-1 (or 639-3); ``un`` for a missing or malformed one."""
    value = record.get(name)
    match = _LANGUAGE.fullmatch(value.strip().lower()) if isinstance(value, str) and len(value) < 40 else None
    return match[1] if match else "un"


def _unfit(record: Mapping[str, Any], name: str, expected: str) -> Unfit:
    if record.get(name) is None:
        return Unfit("missing_field", f"no {name}", name)
    return Unfit("wrong_type", f"{name} is {json_type(record[name])}", expected)
