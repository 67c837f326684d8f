"""Make the references of one page absolute at a fraction of the cost of ``make_absolute``.

``make_absolute`` parses base and reference each time. Most references are plain paths, with or without a host, whose absolute
form is a concatenation; all others go to ``make_absolute``. A property-based test holds both results equal.
"""

from __future__ import annotations

import re

from components.web.urls import DEEPEST, LONGEST, make_absolute

_SEGMENTS = r"(?:[A-Za-z0-9_~$,'*()@!+=&-]++|%[0-9A-Fa-f]{2}|(?<!/)\.|(?<=/)\.(?=[A-Za-z0-9_-]))"
_PATH = rf"(?:{_SEGMENTS}|/(?!/))*+"
_QUERY = r"(?:\?(?:[A-Za-z0-9_~$,'*()@!+=&./?:;-]++|%[0-9A-Fa-f]{2})++)?+"
_HOST = r"(?!0[xX])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)++[a-z][a-z0-9]{1,20}"
_ABSOLUTE = re.compile(rf"https?://{_HOST}/{_PATH}{_QUERY}")
_ROOTED = re.compile(rf"/(?!/){_PATH}{_QUERY}")
_RELATIVE = re.compile(rf"((?:\.\./)*)([A-Za-z0-9_]{_PATH}{_QUERY})")
_MOST_FOLDERS = 100
"""Maximum folders of a base that are kept: each string is as long as its path."""


def join_plain(reference: str, folders: tuple[str, ...]) -> str | None:
    """Return the absolute form of a plain relative reference, or None; ``folders`` are the page's folder and its parents."""
    match = _RELATIVE.fullmatch(reference) if folders else None
    if match is None:
        return None
    up, rest = match.groups()
    return folders[min(len(up) // 3, len(folders) - 1)] + rest


class Resolver:
    """``make_absolute`` for one base."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._root = ""
        self._folders: tuple[str, ...] = ()
        self._max_length = LONGEST if len(base) < DEEPEST else 0
        if len(base) <= LONGEST and ";" not in base and (_ABSOLUTE.fullmatch(base) or make_absolute(base, base) == base):
            folder = base.partition("?")[0]
            folder = folder[: folder.rindex("/") + 1]
            root = folder.index("/", 8)
            if folder.count("/", root) > _MOST_FOLDERS:
                return
            self._root, self._max_length = folder[:root], LONGEST - len(folder)
            if "//" not in folder[root:]:
                # The folder and its parents up to the root.
                folders = [folder]
                while len(folder) > root + 1:
                    folder = folder[: folder.rindex("/", 0, -1) + 1]
                    folders.append(folder)
                self._folders = tuple(folders)

    def __call__(self, reference: str) -> str | None:
        """Return the absolute, normalised address; None when it is not http(s)."""
        if len(reference) > self._max_length or (len(reference) > _MOST_FOLDERS and reference.count("/") > _MOST_FOLDERS):
            return make_absolute(reference, self._base)
        joined = join_plain(reference, self._folders)
        if joined is not None:
            return joined
        if _ABSOLUTE.fullmatch(reference):
            return reference
        if self._root and _ROOTED.fullmatch(reference):
            return self._root + reference
        return make_absolute(reference, self._base)
