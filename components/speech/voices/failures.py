"""Failures of speech engines."""

from __future__ import annotations

HANG, CRASH, ERROR, SILENT = "hang", "crash", "error", "silent"
"""Reasons: no answer in time; the host died; the engine raised an error; silent audio."""


class EngineFailure(Exception):
    """A voice failed at one text; it can speak others.

    Not a :class:`~components.core.errors.HearsightError`: a stage records it in the ledger and goes on.
    """

    def __init__(self, voice: str, reason: str, detail: str = "") -> None:
        super().__init__(voice, reason, detail)
        self.voice = voice
        self.reason = reason
        """hang, crash, error or silent."""
        self.detail = detail
        """What happened; equal in every run."""

    def __str__(self) -> str:
        return f"{self.voice}: {self.reason}" + (f": {self.detail}" if self.detail else "")


class EngineDown(Exception):
    """An engine cannot be started, or fails at every text."""
