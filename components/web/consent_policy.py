"""What a host, a page or a picture says of being collected: no, nothing, or yes.

``X-Robots-Tag`` and meta robots (``noindex``, ``none``, ``noimageindex``, ``noai``, ``noimageai``; for every robot or for one by
name), and the TDM Reservation Protocol (W3C Community Group, 2024: a header, a meta tag, ``/.well-known/tdmrep.json``). Where
the protocol lets a nearer statement overrule a farther one, a reservation anywhere counts here: in doubt it is not taken.
Nothing here raises, whatever is said, and nothing touches the network.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

TDMREP_PATH = "/.well-known/tdmrep.json"
FORBIDS = {"noai": "noai", "noimageai": "noimageai", "noindex": "noindex", "none": "noindex", "noimageindex": "noimageindex"}
"""Directive → the rule that drops what says it; of several, the first named here is given."""
RULES = ("noai", "noimageai", "noindex", "noimageindex", "tdm_reserved", "no_consent")
"""Every rule of manners, besides those of robots.txt."""
# Directives with a value of their own after a colon: what stands before it is no robot's name.
_VALUED = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
_AGREES = ("all", "index", "ai")
_MOST_RULES = 1000


@dataclass(frozen=True)
class Statement:
    """One thing that was said: a directive, and where."""

    word: str
    """Lower case: ``noai``, ``nofollow`` …, ``tdm-reservation: 1``."""
    place: str
    """``X-Robots-Tag``, ``meta robots``, ``tdm-reservation`` …"""
    named: bool = False
    """It speaks to this robot by its name, not to all."""


def parse_header_statements(robots: str, tdm: str, agent: str) -> list[Statement]:
    """What an answer's headers say to ``agent``.

    Args:
        robots: the X-Robots-Tag headers, one a line, each perhaps ``<robot>: directive, directive`` (or several such).
        tdm: the TDM-Reservation header.
        agent: our product token.
    """
    said: list[Statement] = []
    for line in robots.split("\n"):
        speaks_to = ""
        for part in line.split(","):
            name, colon, rest = part.partition(":")
            if colon and name.strip().lower() not in _VALUED:
                speaks_to, part = name.strip().lower(), rest
            if (word := part.strip().lower()) and speaks_to in ("", "*", agent.lower()):
                said.append(Statement(word, "X-Robots-Tag", speaks_to == agent.lower()))
    return said + _reservation(tdm, "header tdm-reservation")


def parse_meta_statements(metas: Iterable[tuple[str, str]], agent: str) -> list[Statement]:
    """What a page's ``<meta name content>`` say to ``agent``."""
    said: list[Statement] = []
    for name, content in metas:
        name = name.strip().lower()
        if name in ("robots", agent.lower()):
            words = (word.strip().lower() for word in content.split(","))
            said += [Statement(word, f"meta {name}", name != "robots") for word in words if word]
        elif name == "tdm-reservation":
            said += _reservation(content, "meta tdm-reservation")
    return said


def _reservation(value: str, place: str) -> list[Statement]:
    value = value.strip().strip("\"'")
    return [Statement(f"tdm-reservation: {value}", place)] if value in ("0", "1") else []


def find_refusal(said: Iterable[Statement]) -> tuple[str, str] | None:
    """(rule, what said it) of the strongest refusal among ``said``, or None."""
    words = {statement.word: statement for statement in reversed(list(said))}
    for word, rule in FORBIDS.items():
        if word in words:
            return rule, f"{words[word].place}: {word}"
    if "tdm-reservation: 1" in words:
        return "tdm_reserved", f"{words['tdm-reservation: 1'].place}: 1"
    return None


def gives_consent(said: Iterable[Statement]) -> bool:
    """Whether something said is consent: rights expressly not reserved, or a yes to this very robot.

    ``index, follow`` to every robot is not: sites say that to search engines.
    """
    return any(one.word == "tdm-reservation: 0" or (one.named and one.word in _AGREES) for one in said)


@dataclass(frozen=True)
class Reservations:
    """A host's ``tdmrep.json``: which paths are reserved."""

    rules: tuple[tuple[str, bool], ...] = ()
    """(path pattern, reserved)"""

    @classmethod
    def of(cls, body: bytes) -> Reservations:
        """The rules of a file; none when it is no such file."""
        try:
            content: Any = json.loads(body)
        except (ValueError, RecursionError):
            return cls()
        rules: list[tuple[str, bool]] = []
        for one in content[:_MOST_RULES] if isinstance(content, list) else []:
            pattern, value = (one.get("location"), one.get("tdm-reservation")) if isinstance(one, Mapping) else (None, None)
            if isinstance(pattern, str) and str(value) in ("0", "1") and not isinstance(value, bool):
                rules.append((pattern, str(value) == "1"))
        return cls(tuple(rules))

    def reserved(self, url: str) -> bool | None:
        """True or False as the most specific (longest) matching rule says, a reservation before equals; None: nothing said."""
        parts = urlsplit(url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        found = [(len(pattern), reserved) for pattern, reserved in self.rules if _matches(pattern, path)]
        return max(found)[1] if found else None


def _matches(pattern: str, path: str) -> bool:
    """robots.txt patterns (RFC 9309, 2.2.3): a prefix, ``*`` for anything, a last ``$`` for the end."""
    pattern = pattern if pattern.startswith(("/", "*")) else f"/{pattern}"
    ends = pattern.endswith("$")
    pieces = re.sub(r"\*+", "*", pattern.removesuffix("$")).split("*")
    # Found piece by piece from the left instead of by one expression, so that no pattern can make it slow.
    if not path.startswith(pieces[0]):
        return False
    at = len(pieces[0])
    for number, piece in enumerate(pieces[1:], 1):
        if ends and number == len(pieces) - 1:
            return len(path) - len(piece) >= at and path.endswith(piece)
        at = path.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return not ends or at == len(path)


def tdmrep_url(url: str) -> str:
    """The address of the reservations of ``url``'s host."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{TDMREP_PATH}"
