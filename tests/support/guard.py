"""A guard of the project's own folder: a test during which something is written there fails.

It sees writes of every process, through Linux's inotify, and costs a system call a test. Where several workers run tests at once,
each test that ran at that time fails; one process (``WORKERS=1``) names the test alone.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BY_DESIGN = {
    "__pycache__": "Python's bytecode and numba's compiled functions: each process would compile them again",
    ".venv": "the environment, whose packages compile themselves at their first import",
    "warm": "background processes of `hearsight check` and `run` end a minute after a person's last command",
    ".git": "Git refreshes its index when it is asked for the state of the checkout",
    ".hypothesis": "examples that failed, which Hypothesis tries first the next time (`make test-all`)",
    ".mypy_cache": "`make lint` beside the tests",
    ".ruff_cache": "`make lint` beside the tests",
    ".import_linter_cache": "`make lint` beside the tests",
}
"""Names of folders that are not watched, and why something may be written there."""

CREATED, DELETED, MODIFIED, MOVED, OVERFLOW, FOLDER = 0x100, 0x200, 0x2, 0xC0, 0x4000, 0x40000000
HEADER = struct.Struct("iIII")
"""Of an event: watch, mask, cookie, length of the name that follows."""


class Guard:
    """The plugin. Watches the folders that are below ``root`` when it is made."""

    def __init__(self, root: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self.root, self.libc = root, libc
        self.events = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.events < 0:
            raise pytest.UsageError(f"inotify: {os.strerror(ctypes.get_errno())}: too many programs watch files; stop some")
        self.folders: dict[int, Path] = {}
        self.watch(root)

    def watch(self, top: Path) -> None:
        """Watch a folder and those below it."""
        waiting = deque([top])
        while waiting:  # from the top, so that the folders beyond the system's limit of watches are the deepest ones
            folder = waiting.popleft()
            number = self.libc.inotify_add_watch(self.events, os.fsencode(folder), CREATED | DELETED | MODIFIED | MOVED)
            if number < 0:
                break
            self.folders[number] = folder
            try:
                entries = list(os.scandir(folder))
            except FileNotFoundError:
                continue
            waiting.extend(Path(each) for each in entries if each.is_dir(follow_symlinks=False) and each.name not in BY_DESIGN)

    def written(self) -> list[str]:
        """Return the paths below the root that were written, made, moved or deleted since the last call."""
        found = set()
        while True:
            try:
                read = os.read(self.events, 1 << 16)
            except BlockingIOError:
                return sorted(found)
            at = 0
            while at < len(read):
                watch, mask, _, length = HEADER.unpack_from(read, at)
                name = os.fsdecode(read[at + HEADER.size : at + HEADER.size + length].rstrip(b"\0"))
                at += HEADER.size + length
                if name in BY_DESIGN or not mask & (CREATED | DELETED | MODIFIED | MOVED | OVERFLOW):
                    continue
                path = self.folders.get(watch, self.root) / name
                found.add(path.relative_to(self.root).as_posix())
                if mask & CREATED and mask & FOLDER:
                    self.watch(path)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        """Fail a test whose fixtures, body or end wrote something; a fixture that others share counts for the first."""
        report: Any = yield
        if call.when == "teardown" and (paths := self.written()):
            report.outcome = "failed"
            who = "by this test, by one of another worker, or by a person"
            report.longrepr = f"written in the project's folder ({who}): {', '.join(paths[:20])}\n{report.longrepr or ''}"
        return report
