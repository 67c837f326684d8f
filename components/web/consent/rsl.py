"""Read what a licence of RSL 1.0 (Really Simple Licensing, 2025) permits and prohibits for an address.

The most specific ``<content>`` decides. What is prohibited and permitted is prohibited (3.1.1). A permission with a condition
that a crawl cannot fulfil (payment, a licence server, kinds of users, places, reports) permits nothing. A licence that cannot be
read, or is not stored, refuses everything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit
from xml.parsers import expat

from components.web.consent.reservations import matches_path, path_of
from components.web.consent.uses import ALL, KEYS, NONE, TRAINING, Uses, names_training

NAMESPACE = "https://rslstandard.org/rsl"
_LONGEST = 1 << 18
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
    try:
        if text is None or len(text) > _LONGEST:
            return ALL, NONE
        matching = [(length, content) for content in _parse(text) if (length := _specificity(content.url, url)) >= 0]
    except (_Unreadable, expat.ExpatError, ValueError, LookupError):
        return ALL, NONE
    best = max((length for length, _ in matching), default=0)
    contents = [content for length, content in matching if length == best]
    no, granted, limited = NONE, NONE, not all(content.licences for content in contents)
    for content in contents:
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


def _specificity(pattern: str, url: str) -> int:
    """Return how specific a content's address is for ``url``, -1 where it is another's; '' is what the licence stands in."""
    pattern = pattern.strip()
    if "://" in pattern:
        parts = urlsplit(pattern)
        if (parts.hostname or "") != (urlsplit(url).hostname or ""):
            return -1
        pattern = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    return len(pattern) if not pattern or matches_path(pattern, path_of(url)) else -1


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
        words.clear()
        if path == ["rsl", "content"]:
            contents.append(_Content(attributes.get("url", ""), bool(attributes.get("server"))))
        elif path == ["rsl", "content", "license"]:
            contents[-1].licences.append(_Licence())
        elif path[:3] == ["rsl", "content", "license"]:
            licence, kind = contents[-1].licences[-1], attributes.get("type", "usage").strip().lower()
            pays = name == "payment" and attributes.get("type", "free").strip().lower() != "free"
            if pays or name in _CONDITIONS or (name in ("permits", "prohibits") and kind != "usage"):
                licence.conditional = True
            path[-1] = name if kind == "usage" else f"{name} {kind}"

    def end(_: str) -> None:
        name = path.pop()
        if path == ["rsl", "content", "license"] and name in ("permits", "prohibits"):
            licence, labels = contents[-1].licences[-1], "".join(words).replace(",", " ").lower().split()
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
