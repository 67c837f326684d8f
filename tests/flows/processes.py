"""A command that leaves a process in a session of its own, and looks for what is left of it."""

from __future__ import annotations

from pathlib import Path

from tests.support import alive, until

FORK = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import os, time; os.setsid(); time.sleep(600)"])
open("pids", "w").write(f"{os.getpid()} {child.pid}")
time.sleep(600)
"""


def pids(path: Path) -> list[int]:
    until(lambda: path.is_file() and len(path.read_text().split()) == 2)
    return [int(text) for text in path.read_text().split()]


def all_gone(numbers: list[int]) -> bool:
    """Wait until none of these processes lives."""
    return until(lambda: not any(alive(pid) for pid in numbers))
