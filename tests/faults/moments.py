"""The moment of a fault: a number of steps on the project's files, counted in the runner of a stage or in its workers.

Steps are the audit events (PEP 578) of Python's file operations below the project, so a moment does not depend on the machine's
speed. The counters are in shared memory: workers are forked from the runner, and the harness reads them afterwards.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

FILES = ("open", "os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir", "os.scandir", "os.listdir", "os.truncate")
EVENTS = frozenset((*FILES, "shutil.rmtree", "shutil.copyfile", "sqlite3.connect"))
RUNNER, WORKER = "runner", "worker"
ROLES = (RUNNER, WORKER)
_STRUCK = len(ROLES)
COMPARED = _STRUCK + 1
"""The counter of the runner's steps when it compares its inputs, at its end."""


class Counters:
    """Steps of each role, and how often the fault struck, in memory that forked processes share."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8 * (COMPARED + 1))

    def add(self, number: int) -> int:
        """Count one more and return the sum."""
        value = self.get(number) + 1
        self.set(number, value)
        return value

    def set(self, number: int, value: int) -> None:
        struct.pack_into("q", self._memory, 8 * number, value)

    def get(self, number: int) -> int:
        return int(struct.unpack_from("q", self._memory, 8 * number)[0])

    def steps(self) -> dict[str, int]:
        """Return role → steps."""
        return {role: self.get(number) for number, role in enumerate(ROLES)} | {"compared": self.get(COMPARED)}


@dataclass
class Strike:
    """What happens at a moment of one command, e.g. ``run split``; with ``at`` 0 it only counts."""

    command: str
    role: str = RUNNER
    at: int = 0
    action: Callable[[], None] = lambda: None
    lasting: bool = False
    """Strike at every later step that writes as well."""
    counters: Counters = field(default_factory=Counters)

    @property
    def struck(self) -> bool:
        return self.counters.get(_STRUCK) > 0

    def arm(self, root: Path) -> None:
        """Count in this process, the runner's, and in those forked from it."""
        runner, below, active = os.getpid(), str(root) + os.sep, [False]
        code = tuple(f"{below}{name}{os.sep}" for name in ("components", "flows", ".hearsight/code"))

        def count(event: str, arguments: tuple[object, ...]) -> None:
            if event not in EVENTS or active[0]:
                return
            path = str(arguments[0]) if arguments else ""
            if not path.startswith(below) or path.startswith(code):
                return
            role = int(os.getpid() != runner)
            step = self.counters.add(role)
            if ROLES[role] != self.role or not self.at or step < self.at or (step > self.at and not self.lasting):
                return
            if (self.struck and not self.lasting) or (self.lasting and not _writes(event, arguments)):
                return
            self.counters.add(_STRUCK)
            active[0] = True
            try:
                self.action()
            finally:
                active[0] = False

        sys.addaudithook(count)


def _writes(event: str, arguments: tuple[object, ...]) -> bool:
    """Return whether a step needs room on the disk."""
    if event == "open":
        flags = arguments[2] if len(arguments) > 2 else 0
        return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    return event in ("os.link", "os.mkdir", "os.truncate", "sqlite3.connect")
