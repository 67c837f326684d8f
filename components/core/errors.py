"""The one exception a user is meant to read."""

from __future__ import annotations

from pathlib import Path

from components.core.printing import escape_controls


class HearsightError(Exception):
    """Something a person can fix: what is wrong, where, and how to fix it, in one line.

    The command line prints it without a traceback and exits with 2. Anything else that is raised is a defect
    of Hearsight and keeps its traceback. What it quotes may come from the web: no character of it controls a terminal.
    """

    def __init__(self, what: str, *, where: str | Path = "", hint: str = "") -> None:
        self.what, self.where, self.hint = what, str(where), hint
        super().__init__(what, str(where), hint)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        cure = f" — {self.hint}" if self.hint else ""
        return escape_controls(" ".join(f"{place}{self.what}{cure}".split()))

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling, and workers send errors back pickled.
        return (_rebuild, (self.what, self.where, self.hint))


def _rebuild(what: str, where: str, hint: str) -> HearsightError:
    return HearsightError(what, where=where, hint=hint)
