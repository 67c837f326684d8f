"""Absolute addresses for the references of one page, at a fraction of the cost.

``absolute`` parses the base and the reference anew each time. Most references of a page are plain: a path of harmless
characters, with or without a host; their absolute form is a concatenation. Everything else goes to ``absolute``, so the
results are equal, which a property-based test holds to arbitrary references.
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
"""Folders of a base that are kept: each is as long as all above it."""


def join_plain(reference: str, folders: tuple[str, ...]) -> str | None:
    """The address of a plain relative reference from the first of ``folders``, a page's and those above it; or None."""
    match = _RELATIVE.fullmatch(reference) if folders else None
    if match is None:
        return None
    up, rest = match.groups()
    return folders[min(len(up) // 3, len(folders) - 1)] + rest


class Resolver:
    """``absolute`` for one base."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._root = ""
        self._folders: tuple[str, ...] = ()
        self._most = LONGEST if len(base) < DEEPEST else 0
        if len(base) <= LONGEST and ";" not in base and (_ABSOLUTE.fullmatch(base) or make_absolute(base, base) == base):
            folder = base.partition("?")[0]
            folder = folder[: folder.rindex("/") + 1]
            root = folder.index("/", 8)
            if folder.count("/", root) > _MOST_FOLDERS:
                return
            self._root, self._most = folder[:root], LONGEST - len(folder)
            if "//" not in folder[root:]:
                # Its folder, the one above, and so on to the root, above which there is nothing.
                folders = [folder]
                while len(folder) > root + 1:
                    folder = folder[: folder.rindex("/", 0, -1) + 1]
                    folders.append(folder)
                self._folders = tuple(folders)

    def __call__(self, reference: str) -> str | None:
        """The absolute, normalised address, or None when it is no http(s) one."""
        if len(reference) > self._most or (len(reference) > _MOST_FOLDERS and reference.count("/") > _MOST_FOLDERS):
            return make_absolute(reference, self._base)
        joined = join_plain(reference, self._folders)
        if joined is not None:
            return joined
        if _ABSOLUTE.fullmatch(reference):
            return reference
        if self._root and _ROOTED.fullmatch(reference):
            return self._root + reference
        return make_absolute(reference, self._base)
