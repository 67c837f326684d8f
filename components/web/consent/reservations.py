"""The well-known file of the TDM Reservation Protocol (W3C Community Group, 2024), and the paths that its rules match."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

TDMREP_PATH = "/.well-known/tdmrep.json"
_MOST_RULES = 1000


@dataclass(frozen=True)
class Reservations:
    """A host's ``tdmrep.json``: which paths are reserved."""

    rules: tuple[tuple[str, bool], ...] = ()
    """(path pattern, reserved)"""

    @classmethod
    def of(cls, body: bytes) -> Reservations:
        """Parse a file; one that is no JSON has no rules (many hosts answer any path with a page). A value other than 0 is a
        reservation.
        """
        try:
            content: Any = json.loads(body)
        except (ValueError, RecursionError):
            return cls()
        rules: list[tuple[str, bool]] = []
        items = [content] if isinstance(content, Mapping) else content if isinstance(content, list) else []
        for item in items[:_MOST_RULES]:
            pattern = item.get("location") if isinstance(item, Mapping) else None
            if isinstance(pattern, str) and "tdm-reservation" in item:
                value = item["tdm-reservation"]
                rules.append((unquote(pattern), isinstance(value, bool) or str(value).strip() != "0"))
        return cls(tuple(rules))

    def reserved(self, url: str) -> bool | None:
        """Return what the most specific (longest) matching rule states; a reservation wins among equals. None without a match."""
        path = path_of(url)
        matches = [(len(pattern), reserved) for pattern, reserved in self.rules if matches_path(pattern, path)]
        return max(matches)[1] if matches else None


def path_of(url: str) -> str:
    """Return the path and query of an address, without percent-encoding."""
    parts = urlsplit(url)
    return unquote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""))


def matches_path(pattern: str, path: str) -> bool:
    """Match a robots.txt pattern (RFC 9309, 2.2.3): a prefix, ``*`` for anything, a last ``$`` for the end."""
    pattern = pattern if pattern.startswith(("/", "*")) else f"/{pattern}"
    ends = pattern.endswith("$")
    pieces = re.sub(r"\*+", "*", pattern.removesuffix("$")).split("*")
    # Matched piece by piece instead of by one expression, so that no pattern is slow.
    if not path.startswith(pieces[0]):
        return False
    position = len(pieces[0])
    for number, piece in enumerate(pieces[1:], 1):
        if ends and number == len(pieces) - 1:
            return len(path) - len(piece) >= position and path.endswith(piece)
        position = path.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
    return not ends or position == len(path)


def tdmrep_url(url: str) -> str:
    """Return the address of ``tdmrep.json`` for the host of ``url``."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{TDMREP_PATH}"
