"""Read what a host, a page or an image states about being collected: a refusal, nothing, or consent. Nothing raises.

Sources are ``X-Robots-Tag`` and meta robots (``noindex``, ``none``, ``noimageindex``, ``noai``, ``noimageai``; for all robots or
one by name) and the TDM Reservation Protocol (W3C Community Group, 2024: header, meta tag, ``/.well-known/tdmrep.json``). The
protocol lets a nearer statement overrule a farther one; here a reservation anywhere counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

TDMREP_PATH = "/.well-known/tdmrep.json"
FORBIDS = {"noai": "noai", "noimageai": "noimageai", "noindex": "noindex", "none": "noindex", "noimageindex": "noimageindex"}
"""Directive → the rule that drops an item with it; of several, the first one here is reported."""
RULES = ("noai", "noimageai", "noindex", "noimageindex", "tdm_reserved", "no_consent")
"""Every rule of the consent policy except those of robots.txt."""
# Directives with a value after a colon; the part before the colon is not a robot's name.
_VALUED = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
_VALUES = re.compile(rf"(?:{'|'.join(_VALUED)})\s*:\s*[^\s,;]*")
_ROBOT = re.compile(r"\s*([\w*-]+)(?:/[\w.]*)?\s*:")
_SEPARATORS = re.compile(r"""[\s,;"']+""")
_AGREES = ("all", "index", "ai")
_MOST_RULES = 1000


@dataclass(frozen=True)
class Statement:
    """One directive and its source."""

    word: str
    """Lower case: ``noai``, ``nofollow`` …, ``tdm-reservation: 1``."""
    place: str
    """``X-Robots-Tag``, ``meta robots``, ``tdm-reservation`` …"""
    named: bool = False
    """Whether it addresses this robot by name, not all robots."""


def parse_header_statements(robots: str, tdm: str, agent: str) -> list[Statement]:
    """Return the directives for ``agent`` in an answer's headers.

    Args:
        robots: the X-Robots-Tag headers, one per line, each perhaps ``<robot>: directive, directive`` (or several of these).
        tdm: the TDM-Reservation header.
        agent: our product token.
    """
    statements: list[Statement] = []
    for line in robots.split("\n"):
        robot = ""
        for part in line.split(","):
            if (named := _ROBOT.match(part)) and named[1].lower() not in _VALUED:
                robot, part = named[1].lower(), part[named.end() :]
            if robot in ("", "*", agent.lower()):
                statements += _directives(part, "X-Robots-Tag", robot == agent.lower())
    return statements + _reservation(tdm, "header tdm-reservation")


def parse_meta_statements(metas: Iterable[tuple[str | None, str | None]], agent: str) -> list[Statement]:
    """Return the directives for ``agent`` in a page's ``<meta name content>``."""
    statements: list[Statement] = []
    for name, content in metas:
        name = (name or "").strip().lower()
        if name in ("robots", agent.lower()):
            statements += _directives(content or "", f"meta {name}", name != "robots")
        elif name == "tdm-reservation":
            statements += _reservation(content or "", "meta tdm-reservation")
    return statements


def _directives(text: str, place: str, named: bool) -> list[Statement]:
    return [Statement(word, place, named) for word in _SEPARATORS.split(_VALUES.sub("", text.lower())) if word]


def _reservation(text: str, place: str) -> list[Statement]:
    return [Statement(f"tdm-reservation: {value}", place) for value in _SEPARATORS.split(text) if value in ("0", "1")]


def find_refusal(statements: Iterable[Statement]) -> tuple[str, str] | None:
    """Return (rule, statement) of the strongest refusal, or None."""
    words = {statement.word: statement for statement in reversed(list(statements))}
    for word, rule in FORBIDS.items():
        if word in words:
            return rule, f"{words[word].place}: {word}"
    if "tdm-reservation: 1" in words:
        return "tdm_reserved", f"{words['tdm-reservation: 1'].place}: 1"
    return None


def asks_nofollow(statements: Iterable[Statement]) -> bool:
    """Return whether a statement asks robots not to follow the page's links."""
    return any(statement.word in ("nofollow", "none") for statement in statements)


def gives_consent(statements: Iterable[Statement]) -> bool:
    """Return whether a statement gives consent: rights expressly not reserved, or a permission for this robot by name.

    ``index, follow`` for all robots does not count: sites address search engines with it.
    """
    return any(
        statement.word == "tdm-reservation: 0" or (statement.named and statement.word in _AGREES) for statement in statements
    )


@dataclass(frozen=True)
class Reservations:
    """A host's ``tdmrep.json``: which paths are reserved."""

    rules: tuple[tuple[str, bool], ...] = ()
    """(path pattern, reserved)"""

    @classmethod
    def of(cls, body: bytes) -> Reservations:
        """Parse a file; an invalid file has no rules."""
        try:
            content: Any = json.loads(body)
        except (ValueError, RecursionError):
            return cls()
        rules: list[tuple[str, bool]] = []
        for item in content[:_MOST_RULES] if isinstance(content, list) else []:
            pattern, value = (item.get("location"), item.get("tdm-reservation")) if isinstance(item, Mapping) else (None, None)
            if isinstance(pattern, str) and str(value) in ("0", "1") and not isinstance(value, bool):
                rules.append((unquote(pattern), str(value) == "1"))
        return cls(tuple(rules))

    def reserved(self, url: str) -> bool | None:
        """Return what the most specific (longest) matching rule states; a reservation wins among equals. None without a match."""
        parts = urlsplit(url)
        path = unquote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
        matches = [(len(pattern), reserved) for pattern, reserved in self.rules if _matches(pattern, path)]
        return max(matches)[1] if matches else None


def _matches(pattern: str, path: str) -> bool:
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
