"""Apply robots.txt (RFC 9309): which URLs a host lets a crawler request, how often, and what it states about their use.

Rules are read from stored answers only, so that a crawl and its replay agree.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from protego import Protego

from components.core.text_encoding import decode_text
from components.web.consent.reservations import match_path, path_of
from components.web.consent.statements import RSL, SIGNAL, USAGE, Statement

MAX_BYTES = 500 * 1024
"""Bytes of a robots.txt that must be read (RFC 9309, section 2.5); the rest is ignored."""
_GROUP = re.compile(r"^([^\S\n]*+user[- ]?agent(?:[^\S\n]*+:|[^\S\n])[^\S\n]*+)([^\s#/*;,(:]+).*", re.I | re.M)
"""A line that names a product, with or without a version; as lenient as Protego. White space is taken once: no line is slow."""
_LINE = re.compile(
    r"(?i)\s*+(?:(user[- ]?agent|allow|disallow)(?:\s*+[:=]|\s)|(content[-_ ]?usage|content[-_ ]?signals?|licen[sc]e)(?:\s*+[:=]|"
    r"(?=\s[^#=]*[\w\s]=|\s+(?:https?:/)?/)))\s*+([^#]*)"
)
"""A line that begins a group or stands in one; without a colon too, as Protego reads it, where it is no sentence."""
_SIGNAL = re.compile(r"content[-_ ]?(?:usage|signal)|licen[sc]e", re.I)
_SIGNALS = {"contentusage": USAGE, "contentsignal": SIGNAL, "license": RSL, "licence": RSL}
PLACE = "robots.txt"
_MOST_LINES, _MOST_LICENCES = 1000, 10
"""Lines about use that count for one robot, and licences: each is a request. With more, the file cannot be read: it refuses."""
_UNREADABLE = Statement(SIGNAL, PLACE, "too many lines about use")


def robots_url(url: str) -> str:
    """Return the address of the robots.txt that applies to ``url``."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/robots.txt"


class Rules:
    """The rules of one robots.txt for one robot."""

    def __init__(self, text: str | None, agent: str, *, everything: bool = True, named: bool = False) -> None:
        self._text, self._agent, self._everything, self.named = text, agent, everything, named
        """``named``: whether one of its groups names this robot."""

    @classmethod
    def of(cls, status: int, body: bytes, agent: str) -> Rules:
        """Return the rules of an answer: 2xx is parsed, 4xx allows everything, anything else forbids everything (2.3.1).

        429 counts as a server error: it states load, not permission.
        """
        if 200 <= status < 300:
            text, product = "\n".join(decode_text(body[:MAX_BYTES], "replace").splitlines()), agent.lower()
            named = any(name.lower() == product for _, name in _GROUP.findall(text))
            # Protego would compare the version too, and take "hear" for a name of "hearsight".
            text = _GROUP.sub(lambda line: line[1] + (product if line[2].lower() == product else "?"), text)
            return cls(text, agent, named=named)
        return cls(None, agent, everything=400 <= status < 500 and status != 429)

    @cached_property
    def _parsed(self) -> Any:
        return None if self._text is None else Protego.parse(self._text)

    @cached_property
    def _signals(self) -> tuple[Statement, ...]:
        return () if self._text is None else _read_signals(self._text, self._agent.lower() if self.named else "*")

    def allow(self, url: str) -> bool:
        """Return whether the robot may request ``url``; robots.txt itself always."""
        if self._parsed is None or url == robots_url(url):
            return self._everything or url == robots_url(url)
        return bool(self._parsed.can_fetch(url, self._agent))

    def statements(self, url: str) -> list[Statement]:
        """Return what its group for this robot states about the use of ``url``.

        Lines with a path work as Allow does: those of the longest that matches apply, and several of one path together
        (draft-ietf-aipref-attach-05, 3.1). ``License`` lines outside of groups count where the group has none (RSL 1.0, 4.4.2).
        """
        if not self._signals:
            return []
        path = path_of(url)
        found: dict[str, tuple[int, list[Statement]]] = {}
        for statement in self._signals:
            has_path = statement.text.startswith("/") and statement.signal != RSL
            pattern, _, text = statement.text.partition(" ") if has_path else ("", "", statement.text)
            if "=" in pattern and not text:  # no path: the preference would be lost with it
                has_path, pattern, text = False, "", statement.text
            specific = match_path(pattern, path) if has_path else 0
            length, statements = found.get(statement.signal, (0, []))
            if specific >= length:
                equal = statements if specific == length else []
                found[statement.signal] = specific, [*equal, Statement(statement.signal, PLACE, text)]
        return [statement for _, statements in found.values() for statement in statements]

    @property
    def sitemaps(self) -> list[str]:
        """The addresses of its ``Sitemap:`` lines as spelled, in order, each once."""
        return list(dict.fromkeys(self._parsed.sitemaps)) if self._parsed is not None else []

    @property
    def delay(self) -> float:
        """Crawl-delay in seconds, 0 for none (not in the RFC, but in common use)."""
        return float((self._parsed.crawl_delay(self._agent) if self._parsed is not None else None) or 0.0)


def _read_signals(text: str, product: str) -> tuple[Statement, ...]:
    """Return the lines about use in the groups of ``product`` (lower case, or *), and those outside of any group."""
    if not _SIGNAL.search(text):
        return ()
    ours: list[Statement] = []
    loose: list[Statement] = []
    names: set[str] | None = None
    in_rules = True
    for line in text.splitlines():
        if (found := _LINE.match(line)) is None:
            continue
        name, value = re.sub("[-_ ]", "", (found[1] or found[2]).lower()).removesuffix("s"), " ".join(found[3].split())
        if name == "useragent":
            names = {value.lower()} | (names or set() if not in_rules else set())
            in_rules = False
            continue
        in_rules = True
        if value and name in _SIGNALS:
            group = loose if names is None else ours if product in names else []
            group.append(Statement(_SIGNALS[name], PLACE, value))
    licensed = any(statement.signal == RSL for statement in ours)
    stated = (*ours, *(statement for statement in loose if not (licensed and statement.signal == RSL)))
    licences = {statement.text for statement in stated if statement.signal == RSL}
    return (_UNREADABLE,) if len(stated) > _MOST_LINES or len(licences) > _MOST_LICENCES else stated
