"""Absolute addresses for the references of one page, at a fraction of the cost.

``absolute`` parses the base and the reference anew each time. Most references of a page are plain: a path of harmless
characters, with or without a host; their absolute form is a concatenation. Everything else goes to ``absolute``, so the
results are equal, which a property-based test holds to arbitrary references.
"""

from __future__ import annotations

import re

from components.crawl.urls import absolute

_SEGMENTS = r"(?:[A-Za-z0-9_~$,'*()@!+=&-]|%[0-9A-Fa-f]{2}|(?<!/)\.|(?<=/)\.(?=[A-Za-z0-9_-]))"
_PATH = rf"(?:{_SEGMENTS}|/(?!/))*+"
_QUERY = r"(?:\?(?:[A-Za-z0-9_~$,'*()@!+=&./?:;-]|%[0-9A-Fa-f]{2})+)?"
_HOST = r"(?!0[xX])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9]{1,20}"
_ABSOLUTE = re.compile(rf"https?://{_HOST}/{_PATH}{_QUERY}")
_ROOTED = re.compile(rf"/(?!/){_PATH}{_QUERY}")
_RELATIVE = re.compile(rf"[A-Za-z0-9_]{_PATH}{_QUERY}")


class Resolver:
    """``absolute`` for one base."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._root = self._folder = ""
        normal = absolute(base, base)
        if normal == base and ";" not in base:
            scheme, _, rest = base.partition("://")
            host, _, path = rest.partition("/")
            self._root = f"{scheme}://{host}"
            path = path.partition("?")[0]
            self._folder = f"{self._root}/{path.rpartition('/')[0]}/" if "/" in path else f"{self._root}/"

    def __call__(self, reference: str) -> str | None:
        """The absolute, normalised address, or None when it is no http(s) one."""
        if _ABSOLUTE.fullmatch(reference):
            return reference
        if self._root:
            if _ROOTED.fullmatch(reference):
                return self._root + reference
            if _RELATIVE.fullmatch(reference):
                return self._folder + reference
        return absolute(reference, self._base)
