"""What can go wrong while an engine speaks."""

from __future__ import annotations

HANG, CRASH, ERROR, SILENT = "hang", "crash", "error", "silent"
"""No answer in time; the host was gone; the engine refused; nothing to hear."""


class EngineFailure(Exception):
    """One text that a voice could not say; the voice itself lives on.

    No :class:`~components.core.errors.HearsightError`: nothing is wrong with the run, and a stage makes a ledger row of it.
    """

    def __init__(self, voice: str, reason: str, detail: str = "") -> None:
        super().__init__(voice, reason, detail)
        self.voice = voice
        self.reason = reason
        """hang, crash, error or silent."""
        self.detail = detail
        """What happened, with nothing in it that differs from run to run."""

    def __str__(self) -> str:
        return f"{self.voice}: {self.reason}" + (f": {self.detail}" if self.detail else "")


class EngineDown(Exception):
    """An engine that cannot be started, or fails at whatever it is asked."""
