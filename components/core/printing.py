"""What a command prints: lines for people on a terminal, JSON lines for programs. No text of the web controls a terminal.

Every command prints through here: what a terminal would take for a command (control characters, marks that turn the direction
of writing) is shown by its code, as ``\\x9b``, and as an escape of JSON in JSON lines.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

_COMMANDS = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
"""C0 without tab and newline, DEL, C1, marks of direction, Unicode's line ends, and halves of characters, which UTF-8 lacks."""


def escape_controls(text: str) -> str:
    """Return the text with every character that a terminal would obey as its code (``\\x1b``); tab and newline stay."""
    return _COMMANDS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def json_line(value: Any, *, allow_nan: bool = True) -> str:
    """Return a value as one line of JSON in UTF-8, in which such characters are escapes; what JSON lacks is a string."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=allow_nan, default=str)
    return _COMMANDS.sub(lambda match: f"\\u{ord(match[0]):04x}", line)


def print_text(text: str) -> None:
    """Print text for people, with what a terminal would obey made visible."""
    print(escape_controls(text), flush=True)


def print_error(text: str) -> None:
    """Print a line about what went wrong on standard error, likewise."""
    print(f"hearsight: {escape_controls(text)}", file=sys.stderr, flush=True)


def print_json(value: Any, *, allow_nan: bool = True) -> None:
    """Print a value as one JSON line."""
    print(json_line(value, allow_nan=allow_nan), flush=True)


def print_line(line: Mapping[str, Any]) -> None:
    """Print one result; empty values are left out for people."""
    if sys.stdout.isatty():
        print_text("  ".join(f"{key} {_plain(value)}" for key, value in line.items() if value not in ({}, [], None)))
    else:
        print_json(line)


def print_table(rows: Iterable[Mapping[str, Any]]) -> None:
    """Print results in columns, or each as a JSON line."""
    rows = list(rows)
    if not sys.stdout.isatty():
        for row in rows:
            print_json(row)
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [{name: escape_controls(_plain(row.get(name, ""))) for name in names} for row in rows]
    widths = {name: max(len(name), *(len(row[name]) for row in cells)) for name in names}
    print_text("  ".join(name.ljust(widths[name]) for name in names))
    for row in cells:
        print_text("  ".join(row[name].ljust(widths[name]) for name in names))


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return str(value)
