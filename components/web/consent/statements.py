"""Collect raw statements about use from an answer's headers and a page's tags, unread: what they mean may change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

ROBOTS, TDMREP, USAGE, SIGNAL, RSL, PLUS, C2PA = "robots", "tdmrep", "content-usage", "content-signal", "rsl", "plus", "c2pa"
"""The signals that a statement belongs to."""
X_ROBOTS_TAG, META, ALL_ROBOTS = "X-Robots-Tag", "meta ", "meta robots"
"""Places of robots directives: the header, and a meta tag with its name."""
LONGEST = 1 << 18
"""Characters kept of a statement."""
RSL_TYPE = "rsl+xml"
"""The end of the media type of RSL (application/rsl+xml)."""
# Directives with a value after a colon; the part before the colon is not a robot's name.
_VALUED = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
_VALUES = re.compile(rf"({'|'.join(_VALUED)})\s*[:=]\s*[^\s,;]*")
_DIRECTIVES = (
    *_VALUED, "all", "follow", "index", "indexifembedded", "noai", "noarchive", "nocache", "nofollow", "noimageai",
    "noimageindex", "noindex", "noml", "none", "nosnippet", "notranslate",
)  # fmt: skip
_ROBOT = re.compile(r"\s*([\w*-]+)(?:/[\w.]*)?\s*:")
_NO_WORD = re.compile(r"[^\w*-]+")
_SEPARATORS = re.compile(r"""[\s,;"']+""")
_LINK = re.compile(r'<([^<>]*)>((?:[^,"<]|"[^"]*"?)*)')
_LICENSE = re.compile(r"""\brel\s*=\s*(?:"[^"]*\blicense\b|'?license\b)""")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement as it was found."""

    signal: str
    """One of the signals above."""
    place: str
    """Where it stood: ``X-Robots-Tag``, ``meta robots``, ``header content-usage``, ``robots.txt``, ``XMP`` …"""
    text: str
    """As written; of C2PA the assertion's entries as JSON; of RSL the XML, or the address of the licence."""


def parse_header_statements(robots: str, tdm: str, signals: str = "") -> list[Statement]:
    """Return the statements in an answer's headers.

    Args:
        robots: the X-Robots-Tag headers, one per line.
        tdm: the TDM-Reservation header.
        signals: other headers, one ``name: value`` a line: content-usage, content-signal and link.
    """
    statements = [Statement(ROBOTS, X_ROBOTS_TAG, line) for line in robots.split("\n") if line.strip()]
    if tdm.strip():
        statements.append(Statement(TDMREP, "header tdm-reservation", tdm))
    for line in signals.split("\n") if signals else ():
        name, _, value = line.partition(":")
        name = name.strip().lower()
        if name == "link":
            statements += [
                Statement(RSL, "header link", target.strip())
                for target, options in _LINK.findall(value)
                if RSL_TYPE in options.lower() and _LICENSE.search(options.lower())
            ]
        elif name in (USAGE, SIGNAL) and value.strip():
            statements.append(Statement(name, f"header {name}", value.strip()))
    return statements


def parse_meta_statements(metas: Iterable[tuple[str | None, str | None]], agent: str) -> list[Statement]:
    """Return the statements for all robots and for ``agent`` in a page's ``<meta name content>``."""
    statements: list[Statement] = []
    for name, content in metas:
        name, content = (name or "").strip().lower(), content or ""
        if not content.strip():
            continue
        if name in ("robots", agent.lower()):
            statements.append(Statement(ROBOTS, META + name, content[:LONGEST]))
        elif name == "tdm-reservation":
            statements.append(Statement(TDMREP, "meta tdm-reservation", content[:LONGEST]))
    return statements


def read_directives(statement: Statement, agent: str) -> Iterator[tuple[str, bool]]:
    """Yield the robots directives for ``agent`` in lower case, each with whether it addresses ``agent`` by name."""
    ours = agent.lower()
    if statement.place != X_ROBOTS_TAG:
        yield from ((word, statement.place != ALL_ROBOTS) for word in _words(statement.text))
        return
    robot = ""
    for part in statement.text.split(","):
        named = _ROBOT.match(part)
        # A robot's name precedes a directive; an unknown directive, whose value it does not, must not hide the next ones.
        if named and named[1].lower() not in _DIRECTIVES and next(iter(_words(part[named.end() :])), "") in _DIRECTIVES:
            robot, part = named[1].lower(), part[named.end() :]
        if robot in ("", "*", "robots", ours):
            yield from ((word, robot == ours) for word in _words(part))


def split_values(text: str) -> list[str]:
    """Return the words of a text, without the separators and quotation marks around them."""
    return [word for word in _SEPARATORS.split(text) if word]


def _words(text: str) -> list[str]:
    return [word for word in _NO_WORD.split(_VALUES.sub(r"\1", text.lower())) if word]


def asks_nofollow(statements: Iterable[Statement], agent: str) -> bool:
    """Return whether a statement asks ``agent`` not to follow the page's links."""
    return any(
        word in ("nofollow", "none")
        for statement in statements
        if statement.signal == ROBOTS
        for word, _ in read_directives(statement, agent)
    )
