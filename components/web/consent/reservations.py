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
_ALL = (("/", True),)
_ORIGIN = re.compile(r"(?:https?:)?//[^/]*", re.I)


@dataclass(frozen=True)
class Reservations:
    """A host's ``tdmrep.json``: which paths are reserved."""

    rules: tuple[tuple[str, bool], ...] = ()
    """(path pattern, reserved)"""

    @classmethod
    def of(cls, body: bytes) -> Reservations:
        """Parse a file; one that is no JSON has no rules (many hosts answer any path with a page), unless it is meant as such. A
        value other than 0 is a reservation, and what cannot be read reserves all.
        """
        try:
            content: Any = json.loads(body)
        except (ValueError, RecursionError):
            return cls(_ALL if body.lstrip()[:1] in (b"[", b"{") and b"tdm-reservation" in body.lower() else ())
        rules: list[tuple[str, bool]] = []
        items = [content] if isinstance(content, Mapping) else content if isinstance(content, list) else []
        for item in items[:_MOST_RULES]:
            stated = {name.lower(): value for name, value in item.items()} if isinstance(item, Mapping) else {}
            if "tdm-reservation" not in stated:
                continue
            value, places = stated["tdm-reservation"], stated.get("location")
            reserved = isinstance(value, bool) or str(value).strip() != "0"
            for place in places if isinstance(places, list) and places else [places]:
                if isinstance(place, str) and not _ORIGIN.match(place):
                    rules.append((place, reserved))
                elif reserved:  # what is reserved without a path, or with an address, is reserved all the same
                    rules.append((_ORIGIN.sub("", place) if isinstance(place, str) else "/", True))
        return cls((*rules, *(_ALL if len(items) > _MOST_RULES else ())))

    def reserved(self, url: str) -> bool | None:
        """Return what the most specific (longest) matching rule states; a reservation wins among equals. None without a match."""
        path = path_of(url)
        length, reserved = max(((match_path(pattern, path), reserved) for pattern, reserved in self.rules), default=(-1, False))
        return reserved if length >= 0 else None


UNREADABLE = Reservations(_ALL)
"""Of a file that is neither read nor known to be missing (404, 410): what it states is unknown, and the stricter counts."""


def path_of(url: str) -> str:
    """Return the path and query of an address, without percent-encoding."""
    parts = urlsplit(url)
    return unquote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""))


def match_path(pattern: str, path: str) -> int:
    """Return how specific a robots.txt pattern is (RFC 9309, 2.2.3): its length decoded; -1 where it does not match.

    A pattern is a prefix, ``*`` stands for anything, a last ``$`` for the end; ``path`` is one of :func:`path_of`.
    """
    pattern = pattern if pattern.startswith(("/", "*")) else f"/{pattern}"
    ends = pattern.endswith("$")
    pieces = [unquote(piece) for piece in re.sub(r"\*+", "*", pattern.removesuffix("$")).split("*")]
    length = sum(map(len, pieces)) + len(pieces) - 1 + ends
    # Matched piece by piece instead of by one expression, so that no pattern is slow.
    if not path.startswith(pieces[0]):
        return -1
    position = len(pieces[0])
    for number, piece in enumerate(pieces[1:], 1):
        if ends and number == len(pieces) - 1:
            return length if len(path) - len(piece) >= position and path.endswith(piece) else -1
        position = path.find(piece, position)
        if position < 0:
            return -1
        position += len(piece)
    return length if not ends or position == len(path) else -1


def tdmrep_url(url: str) -> str:
    """Return the address of ``tdmrep.json`` for the host of ``url``."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{TDMREP_PATH}"
