"""The result of a check: one line."""

from __future__ import annotations

from dataclasses import dataclass

OK, WARNING, MISSING = "ok", "warning", "missing"
"""States: nothing to do; something optional is missing; ``make demo`` cannot succeed."""


@dataclass(frozen=True)
class Finding:
    """The state of one requirement."""

    state: str
    """``ok``, ``warning`` or ``missing``."""
    name: str
    found: str
    """What is installed, or what is missing."""
    fix: str = ""
    """The command that repairs it; empty when there is nothing to do."""

    def plain(self) -> dict[str, str]:
        """Return the finding as a JSON-able mapping."""
        return {"state": self.state, "name": self.name, "found": self.found, "fix": self.fix}

    def text(self) -> str:
        """Return the finding as a line for people."""
        return f"{self.state:<9}{self.name:<17}{self.found}" + (f"; fix: {self.fix}" if self.fix else "")
