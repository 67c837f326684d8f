"""The exception for errors that a user can fix."""

from __future__ import annotations

from pathlib import Path

from components.core.printing import escape_controls


class HearsightError(Exception):
    """An error that a user can fix: what is wrong, where, and how to fix it, in one line.

    The command line prints it without a traceback and exits with 2. Any other exception is a defect of Hearsight and keeps its
    traceback. Quoted text may come from the web, so characters that control a terminal are escaped.
    """

    def __init__(self, what: str, *, where: str | Path = "", hint: str = "") -> None:
        self.what, self.where, self.hint = what, str(where), hint
        super().__init__(what, str(where), hint)

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        hint = f" — {self.hint}" if self.hint else ""
        return escape_controls(" ".join(f"{where}{self.what}{hint}".split()))

    def __reduce__(self) -> tuple[object, ...]:
        # Workers send errors back pickled; the default pickling loses keyword-only arguments.
        return (_rebuild, (self.what, self.where, self.hint))


class ObjectMissing(HearsightError):
    """The bucket lacks an object, or has a damaged one."""


def _rebuild(what: str, where: str, hint: str) -> HearsightError:
    return HearsightError(what, where=where, hint=hint)
