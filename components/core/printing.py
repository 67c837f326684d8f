"""What a command prints: lines for people on a terminal, JSON lines for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any


def print_line(line: Mapping[str, Any]) -> None:
    """Print one result; empty values are left out for people."""
    if sys.stdout.isatty():
        _say("  ".join(f"{key} {_plain(value)}" for key, value in line.items() if value not in ({}, [], None)))
    else:
        _say(json.dumps(line, ensure_ascii=False, default=str))


def print_table(rows: Iterable[Mapping[str, Any]]) -> None:
    """Print results in columns, or each as a JSON line."""
    rows = list(rows)
    if not sys.stdout.isatty():
        for row in rows:
            _say(json.dumps(row, ensure_ascii=False, default=str))
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    widths = {name: max(len(name), *(len(_plain(row.get(name, ""))) for row in rows)) for name in names}
    _say("  ".join(name.ljust(widths[name]) for name in names))
    for row in rows:
        _say("  ".join(_plain(row.get(name, "")).ljust(widths[name]) for name in names))


def _say(line: str) -> None:
    print(line, flush=True)


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return str(value)
