"""The result of a check, and the run of a tool that checks need."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass

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
        return asdict(self)

    def text(self) -> str:
        """Return the finding as a line for people."""
        return f"{self.state:<9}{self.name:<17}{self.found}" + (f"; fix: {self.fix}" if self.fix else "")


def run_tool(command: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str] | None:
    """Run a tool; return None when it does not start or takes too long."""
    try:
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}  # checks read the output
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
