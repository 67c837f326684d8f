"""Programs in Java's place."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def program(folder: Path, name: str, code: str) -> str:
    """A program that stands where Java would and does what a failing one does."""
    path = folder / name
    (folder / f"{name}.py").write_text(code)
    # Not the interpreter itself in the first line: its path may hold a space.
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(folder / name))}.py "$@"\n')
    path.chmod(0o755)
    return str(path)
