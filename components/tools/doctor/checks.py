"""The list of checks, and running them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from components.core.errors import HearsightError
from components.tools.doctor import machine, material, models, speech
from components.tools.doctor.finding import MISSING, Finding

CHECKS: tuple[tuple[str, Callable[[Path], list[Finding]]], ...] = (
    ("python", machine.python),
    ("git", machine.git),
    ("git identity", machine.git_identity),
    ("dvc", machine.dvc),
    ("cores", machine.cores),
    ("memory", machine.memory),
    ("disk", machine.disk),
    ("GPU", machine.gpu),
    ("ports", machine.ports),
    ("sample packages", material.packages),
    ("voices", speech.voices),
    ("recognisers", speech.recognisers),
    ("hub", models.hub),
    ("model server", models.model_server),
    ("text in images", models.text_reader),
)
"""Name and function, in the order of printing. A function takes the project's root and returns findings."""


def examine(root: Path) -> list[Finding]:
    """Return the findings of every check; a HearsightError in a check becomes a ``missing`` finding with its hint as the fix."""
    findings: list[Finding] = []
    for name, check in CHECKS:
        try:
            findings += check(root)
        except HearsightError as error:
            findings.append(Finding(MISSING, name, f"{error.where}: {error.what}" if error.where else error.what, error.hint))
    return findings
