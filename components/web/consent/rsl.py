"""Read what a licence of RSL 1.0 (Really Simple Licensing, 2025) permits and prohibits for an address.

The most specific ``<content>`` decides. What is prohibited and permitted is prohibited (3.1.1). A permission with a condition
that a crawl cannot fulfil (payment, a licence server, kinds of users, places, reports) permits nothing. A licence that cannot be
read, or is not stored, refuses everything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit
from xml.parsers import expat

from components.web.consent.reservations import match_path, path_of
from components.web.consent.uses import ALL, KEYS, NONE, TRAINING, Uses, names_training
from components.web.urls import host_of, normalise, remove_dots

NAMESPACE = "https://rslstandard.org/rsl"
_LONGEST = 1 << 18
_SEPARATORS = re.compile(r"[,;|]")
_ORIGIN = re.compile(r"(?:https?:)?//([^/?#]*)", re.I)
_DEEPEST, _MOST = 20, 10_000
_ELEMENTS = (
    "rsl", "content", "license", "permits", "prohibits", "payment", "standard", "custom", "amount", "accepts", "reporting",
    "legal", "alternate", "schema", "copyright", "terms",
)  # fmt: skip
_CONDITIONS = ("reporting", "standard", "custom", "amount", "accepts")


class _Unreadable(Exception):
    """It is no licence, or too large."""


@dataclass
class _Licence:
    conditional: bool = False
    permits: list[str] | None = None
    prohibits: list[str] = field(default_factory=list)


@dataclass
class _Content:
    url: str
    needs_server: bool
    licences: list[_Licence] = field(default_factory=list)


def read_licence(text: str | None, url: str) -> tuple[Uses, Uses]:
    """Return the uses of ``url`` that a document refuses and allows; None, or no licence, refuses all."""
    contents = _read(text, urlsplit(url).hostname or "") if text is not None and len(text) <= _LONGEST else ()
    if not contents:  # unreadable, or about other hosts, although it is named for this one
        return ALL, NONE
    asked = path_of(url)
    matching = [(length, content) for path, content in contents if (length := match_path(path, asked) if path else 0) >= 0]
    best = max((length for length, _ in matching), default=0)
    nearest = [content for length, content in matching if length == best]
    no, granted, limited = NONE, NONE, not all(content.licences for content in nearest)
    for content in nearest:
        for licence in content.licences:
            no |= _uses(licence.prohibits, prohibits=True)
            if content.needs_server or licence.conditional:
                limited = True
            elif licence.permits is not None:
                limited, granted = True, granted | _uses(licence.permits)
    return (no | (ALL - granted) if limited else no), granted - no


def _uses(labels: list[str], *, prohibits: bool = False) -> Uses:
    uses = NONE
    for label in labels:
        unknown = TRAINING if prohibits and names_training(label) else NONE
        uses |= KEYS.get(label, unknown)
    return uses


@lru_cache(maxsize=64)  # a large one takes 30 ms to parse
def _read(text: str, host: str) -> tuple[tuple[str, _Content], ...]:
    """Return the contents of a document that are about a host, each with its path; none where it cannot be read."""
    try:
        found = _parse(text)
        return tuple((path, content) for content in found if (path := _path_at(content.url.strip(), host)) is not None)
    except (_Unreadable, expat.ExpatError, ValueError, LookupError):
        return ()


def _path_at(pattern: str, host: str) -> str | None:
    """Return the path of a content's address, None of another host's; '' is what the licence stands in."""
    origin = _ORIGIN.match(pattern)
    named, _, path = pattern.partition("/")
    if origin:
        named, path = origin[1].rpartition("@")[2], pattern[origin.end() + 1 :]
    named = named.partition(":")[0]
    named = (named if named.isascii() else host_of(normalise(f"http://{named}/") or "")).rstrip(".").lower()
    name, plain = named.removeprefix("*.").removeprefix("www."), host.removeprefix("www.")
    if name and (name == plain or (named.startswith("*.") and plain.endswith(f".{name}"))):
        return f"/{path.partition('#')[0]}"
    path = pattern.partition("#")[0]
    return None if origin else path if path.startswith("*") or not path else remove_dots(f"/{path.removeprefix('/')}")


def _parse(text: str) -> list[_Content]:
    """Return the contents of a document; raises _Unreadable, ExpatError, ValueError, LookupError."""
    contents: list[_Content] = []
    path: list[str] = []
    words: list[str] = []
    seen = 0

    def start(qualified: str, attributes: dict[str, str]) -> None:
        nonlocal seen
        namespace, _, name = qualified.rpartition(" ")
        seen += 1
        foreign = namespace not in ("", NAMESPACE)
        misplaced = (not path) != (name == "rsl") or (foreign and not path)
        if misplaced or (not foreign and name not in _ELEMENTS) or len(path) > _DEEPEST or seen > _MOST:
            raise _Unreadable
        path.append("" if foreign else name)
        if path == ["rsl", "content"]:
            contents.append(_Content(attributes.get("url", ""), bool(attributes.get("server"))))
        elif path == ["rsl", "content", "license"]:
            contents[-1].licences.append(_Licence())
        elif path[:3] == ["rsl", "content", "license"]:
            licence, kind = contents[-1].licences[-1], attributes.get("type", "usage").strip().lower()
            if len(path) == 4:
                words.clear()
            pays = name == "payment" and attributes.get("type", "free").strip().lower() != "free"
            nested = len(path) > 4 and path[3] == "permits"
            if pays or nested or name in _CONDITIONS or (name in ("permits", "prohibits") and kind != "usage"):
                licence.conditional = True
            path[-1] = name if kind == "usage" else f"{name} {kind}"

    def end(_: str) -> None:
        name = path.pop()
        if path == ["rsl", "content", "license"] and name in ("permits", "prohibits"):
            licence, labels = contents[-1].licences[-1], _SEPARATORS.sub(" ", "".join(words)).lower().split()
            licence.permits = [*(licence.permits or []), *labels] if name == "permits" else licence.permits
            licence.prohibits += labels if name == "prohibits" else []

    def refuse(*_: object) -> None:
        raise _Unreadable

    parser = expat.ParserCreate("utf-8", " ")
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, words.append
    # A document type may define entities that expand without end.
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.Parse(text.strip().encode("utf-8", "replace"), True)
    if not contents:
        raise _Unreadable
    return contents
