"""The commands of ``hearsight`` and their page, ``docs/cli.md``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import typer

from components.cli.main import app
from tests.support import PROJECT

TARGET = PROJECT / "docs" / "cli.md"


def root_command() -> Any:
    """Return the click command of ``hearsight``."""
    return typer.main.get_command(app)


def commands(command: Any = None, name: str = "hearsight") -> Iterator[tuple[str, Any]]:
    """Yield every command that is not a group, with its full name, in alphabetical order."""
    command = command or root_command()
    children = getattr(command, "commands", None)
    if children is None:
        yield name, command
    else:
        for child in sorted(children):
            yield from commands(children[child], f"{name} {child}")


def reference() -> str:
    """Return what ``make docs`` writes."""
    command = [sys.executable, "-m", "typer", "components.cli.main", "utils", "docs", "--name", "hearsight"]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout
