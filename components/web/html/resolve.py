"""Make the references of one page absolute at a fraction of the cost of ``make_absolute``.

``make_absolute`` parses base and reference each time. Most references are plain paths, with or without a host, whose absolute
form is a concatenation; all others go to ``make_absolute``. A property-based test holds both results equal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from components.web.urls import DEEPEST, LONGEST, make_absolute

_SEGMENTS = r"(?:[A-Za-z0-9_~$,'*()@!+=&-]++|%[0-9A-Fa-f]{2}|(?<!/)\.|(?<=/)\.(?=[A-Za-z0-9_-]))"
_PATH = rf"(?:{_SEGMENTS}|/(?!/))*+"
_QUERY = r"(?:\?(?:[A-Za-z0-9_~$,'*()@!+=&./?:;-]++|%[0-9A-Fa-f]{2})++)?+"
_HOST = r"(?!0[xX])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)++[a-z][a-z0-9]{1,20}"
_ABSOLUTE = re.compile(rf"https?://{_HOST}/{_PATH}{_QUERY}")
_ROOTED = re.compile(rf"/(?!/){_PATH}{_QUERY}")
_RELATIVE = re.compile(rf"(?:\.\./)*+([A-Za-z0-9_]{_PATH}{_QUERY})")
_ANY = rf"(?:https?://{_HOST}/|/(?!/)|(?:\.\./)*+[A-Za-z0-9_]){_PATH}{_QUERY}"
_LINES = re.compile(rf"(?:{_ANY})?+(?:\n(?:{_ANY})?+)*+")
_SCHEMES = ("http://", "https://")
_MOST_FOLDERS = 100
"""Maximum folders of a base that are kept: each string is as long as its path."""


class Resolver:
    """``make_absolute`` for one base."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._root = ""
        self._folders: tuple[str, ...] = ()
        """The base's folder and its parents; none where a reference cannot be appended to them."""
        self._max_length = LONGEST if len(base) < DEEPEST else 0
        if len(base) <= LONGEST and ";" not in base and (_ABSOLUTE.fullmatch(base) or make_absolute(base, base) == base):
            folder = base.partition("?")[0]
            folder = folder[: folder.rindex("/") + 1]
            root = folder.index("/", 8)
            if folder.count("/", root) > _MOST_FOLDERS:
                return
            self._root, self._max_length = folder[:root], LONGEST - len(folder)
            if "//" not in folder[root:]:
                folders = [folder]
                while len(folder) > root + 1:
                    folder = folder[: folder.rindex("/", 0, -1) + 1]
                    folders.append(folder)
                self._folders = tuple(folders)

    def __call__(self, reference: str) -> str | None:
        """Return the absolute, normalised address; None when it is not http(s)."""
        if len(reference) > self._max_length or (len(reference) > _MOST_FOLDERS and reference.count("/") > _MOST_FOLDERS):
            return make_absolute(reference, self._base)
        folders = self._folders
        if folders and (match := _RELATIVE.fullmatch(reference)):
            up = match.start(1)
            return folders[min(up // 3, len(folders) - 1)] + reference[up:]
        if _ABSOLUTE.fullmatch(reference):
            return reference
        if self._root and _ROOTED.fullmatch(reference):
            return self._root + reference
        return make_absolute(reference, self._base)

    def resolve_all(self, references: Sequence[str]) -> list[str | None]:
        """Return what ``__call__`` returns for each reference, and None for an empty one.

        One search tells that all references of a page are short and plain, as they usually are.
        """
        lines = "\n".join(references)
        plain = (
            self._folders
            and self._max_length >= _MOST_FOLDERS >= max(map(len, references), default=0)
            and lines.count("\n") < max(len(references), 1)
            and _LINES.fullmatch(lines)
        )
        if not plain:
            return [self(reference) if reference else None for reference in references]
        folder, root = self._folders[0], self._root
        return [
            None if not reference
            else root + reference if reference[0] == "/"
            else self(reference) if reference[0] == "."
            else reference if reference.startswith(_SCHEMES)
            else folder + reference
            for reference in references
        ]  # fmt: skip
