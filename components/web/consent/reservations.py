"""The well-known file of the TDM Reservation Protocol (W3C Community Group, 2024), and the paths that its rules match."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from components.core.printing import json_line

TDMREP_PATH = "/.well-known/tdmrep.json"
_MOST_RULES, _SHOWN = 1000, 200
_ORIGIN = re.compile(r"(?:https?:)?//[^/]*", re.I)


@dataclass(frozen=True)
class Reservations:
    """A host's ``tdmrep.json``: which paths are reserved."""

    rules: tuple[tuple[str, bool, str], ...] = ()
    """(path pattern, reserved, what says so: the start of the rule as JSON, or why the file cannot be read)"""

    @classmethod
    def of(cls, body: bytes) -> Reservations:
        """Parse a file; one that is no JSON has no rules (many hosts answer any path with a page), unless it is meant as such. A
        value other than 0 is a reservation, and what cannot be read reserves all.
        """
        try:
            content: Any = json.loads(body)
            items = [content] if isinstance(content, Mapping) else content if isinstance(content, list) else []
            texts = [json_line(item)[:_SHOWN] for item in items[:_MOST_RULES]]
        except (ValueError, RecursionError):
            meant = body.lstrip()[:1] in (b"[", b"{") and b"tdm-reservation" in body.lower()
            return cls.of_unreadable("no JSON") if meant else cls()
        rules: list[tuple[str, bool, str]] = []
        for item, text in zip(items, texts, strict=False):
            stated = {name.lower(): value for name, value in item.items()} if isinstance(item, Mapping) else {}
            if "tdm-reservation" not in stated:
                continue
            value, places = stated["tdm-reservation"], stated.get("location")
            reserved = isinstance(value, bool) or str(value).strip() != "0"
            for place in places if isinstance(places, list) and places else [places]:
                if isinstance(place, str) and not _ORIGIN.match(place):
                    rules.append((place, reserved, text))
                elif reserved:  # what is reserved without a path, or with an address, is reserved all the same
                    rules.append((_ORIGIN.sub("", place) if isinstance(place, str) else "/", True, text))
        return cls((*rules, ("/", True, f"more than {_MOST_RULES} rules"))) if len(items) > _MOST_RULES else cls(tuple(rules))

    @classmethod
    def of_unreadable(cls, why: str) -> Reservations:
        """Return those of a file that cannot be read: what it states is unknown, and the stricter counts."""
        return cls((("/", True, f"cannot be read ({why})"),))

    def stated(self, url: str) -> tuple[bool | None, str]:
        """Return what the most specific (longest) matching rule states, and the rule; a reservation wins among equals."""
        path = path_of(url)
        length, reserved, text = max(((match_path(rule[0], path), *rule[1:]) for rule in self.rules), default=(-1, False, ""))
        return (reserved, text) if length >= 0 else (None, "")


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
