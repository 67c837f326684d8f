"""Apply robots.txt (RFC 9309): which URLs a host lets a crawler request, and how often.

Rules are read from stored answers only, so that a crawl and its replay agree.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from protego import Protego

from components.core.text_encoding import decode_text

MAX_BYTES = 500 * 1024
"""Bytes of a robots.txt that must be read (RFC 9309, section 2.5); the rest is ignored."""
_GROUP = re.compile(r"^([^\S\n]*user[- ]?agent[^\S\n]*(?::|(?<=\s))[^\S\n]*)([^\s#/*;,(:]+).*", re.I | re.M)
"""A line that names a product, with or without a version; as lenient as Protego."""


def robots_url(url: str) -> str:
    """Return the address of the robots.txt that applies to ``url``."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/robots.txt"


class Rules:
    """The rules of one robots.txt for one robot."""

    def __init__(self, parsed: Any, agent: str, *, everything: bool = True, named: bool = False) -> None:
        self._parsed, self._agent, self._everything, self.named = parsed, agent, everything, named
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
            return cls(Protego.parse(text), agent, named=named)
        return cls(None, agent, everything=400 <= status < 500 and status != 429)

    def allow(self, url: str) -> bool:
        """Return whether the robot may request ``url``; robots.txt itself always."""
        if self._parsed is None or url == robots_url(url):
            return self._everything or url == robots_url(url)
        return bool(self._parsed.can_fetch(url, self._agent))

    @property
    def sitemaps(self) -> list[str]:
        """The addresses of its ``Sitemap:`` lines as spelled, in order, each once."""
        return list(dict.fromkeys(self._parsed.sitemaps)) if self._parsed is not None else []

    @property
    def delay(self) -> float:
        """Crawl-delay in seconds, 0 for none (not in the RFC, but in common use)."""
        return float((self._parsed.crawl_delay(self._agent) if self._parsed is not None else None) or 0.0)
