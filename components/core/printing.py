"""Output of commands: text on a terminal, JSON lines otherwise.

Every command prints through this module, because text from the web could control a terminal: control characters and marks of
writing direction are printed as escapes (``\\x9b``), in JSON lines as JSON escapes.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from typing import Any

_CONTROLS = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
"""C0 without tab and newline, DEL, C1, direction marks, Unicode line ends, and surrogates, which UTF-8 lacks."""


def escape_controls(text: str) -> str:
    """Return the text with every control character as an escape (``\\x1b``); tab and newline stay."""
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def json_line(value: Any, *, allow_nan: bool = True) -> str:
    """Return a value as one line of JSON with control characters escaped; values that JSON lacks become strings."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=allow_nan, default=str)
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", line)


def print_text(text: str) -> None:
    """Print text with control characters escaped."""
    print(escape_controls(text), flush=True)


def print_error(text: str) -> None:
    """Print an error or a warning on standard error, with control characters escaped."""
    print(f"hearsight: {escape_controls(text)}", file=sys.stderr, flush=True)


def print_json(value: Any, *, allow_nan: bool = True) -> None:
    """Print a value as one JSON line."""
    print(json_line(value, allow_nan=allow_nan), flush=True)


def print_result(value: Any, text: str) -> None:
    """Print one result: on a terminal as ``text``, otherwise as a JSON line."""
    if sys.stdout.isatty():
        print_text(text)
    else:
        print_json(value)


def print_line(line: Mapping[str, Any]) -> None:
    """Print one result: on a terminal as ``key value`` pairs without empty ones, otherwise as a JSON line."""
    print_result(line, "  ".join(f"{key} {_plain(value)}" for key, value in line.items() if value not in ({}, [], None)))


NARROWEST = 16
"""Characters below which no column of a table is cut: those of a key."""
ROOM = 40
"""Characters that the main column of a table has before the last columns are left out."""


def print_table(rows: Iterable[Mapping[str, Any]], *, fit: str = "") -> None:
    """Print results: on a terminal as aligned columns, otherwise as JSON lines, which are always complete.

    Args:
        fit: on a terminal: the main column. Columns of one value are a line above the table, and the rest fits the width.
    """
    rows = list(rows)
    if not sys.stdout.isatty():
        for row in rows:
            print_json(row)
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [{name: escape_controls(_plain(row.get(name, ""))) for name in names} for row in rows]
    if fit:
        same = {name: cells[0][name] for name in names if name != fit and len({row[name] for row in cells}) == 1}
        names = [name for name in names if name not in same or (len(cells) == 1 and same[name])]
        if heading := {name: value for name, value in same.items() if value and name not in names}:
            print_line(heading)
    widths = {name: max(len(name), *(len(row[name]) for row in cells)) for name in names}
    widths = _fit(widths, fit) if fit else widths
    for row in ({name: name for name in names}, *cells):
        print_text("  ".join(_cell(row[name], width) for name, width in widths.items()).rstrip())


def _fit(widths: Mapping[str, int], main: str) -> dict[str, int]:
    """Return the widths of the columns that fit the terminal: the last are left out, then the widest cut, the main one last."""
    names, columns = list(widths), shutil.get_terminal_size().columns
    least = {name: min(width, ROOM if name == main else NARROWEST) + 2 for name, width in widths.items()}
    while names[-1:] not in ([], [main]) and sum(least[name] for name in names) - 2 > columns:
        names.pop()
    fitted, room = {name: widths[name] for name in names}, columns - 2 * (len(names) - 1)
    while sum(fitted.values()) > room and max(fitted.values()) > NARROWEST:
        fitted[max(names, key=lambda name: (fitted[name] > NARROWEST, name != main, fitted[name]))] -= 1
    return fitted


def _cell(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else f"{text[: width - 1]}…"


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return str(value)
