"""Processes: children that die with their parent, and locks that live as long as any writer does."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from components.core.errors import HearsightError
from components.execution.writer_lock import WriterLock

PR_SET_PDEATHSIG = 1
LOCK_PATIENCE = 20.0
"""Seconds a new writer waits for the orphans of a killed one to be gone."""


def die_with_parent(parent: int | None = None) -> None:
    """Ask the kernel to kill this process as soon as the one that started it is gone (Linux; elsewhere a no-op).

    Args:
        parent: the expected parent's pid; when it is gone already, this process exits at once.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def die_with_ancestor(name: str) -> None:
    """Die when the nearest ancestor whose command line holds ``name`` is gone, shells in between or not.

    The kernel's signal covers a direct parent; a shell between the two would survive, so a thread watches too.
    """
    pid = ancestor(name)
    if pid is None:
        return
    die_with_parent()
    born = start_time(pid)

    def watch() -> None:
        while start_time(pid) == born:
            time.sleep(0.25)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True, name="ancestor-watch").start()


def ancestor(name: str) -> int | None:
    """The pid of the nearest of four ancestors whose command line holds the program ``name``, or None."""
    pid = os.getppid()
    for _ in range(4):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if any(Path(os.fsdecode(part)).name == name for part in command[:3]):
                return pid
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            return None
    return None


def start_time(pid: int) -> str | None:
    """When a process began, in the kernel's clock ticks: with the pid it names one process for ever. None when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


@contextmanager
def sole_writer(path: Path, what: str) -> Iterator[None]:
    """Hold the lock at ``path``; forked workers inherit it, so it is free only once every one of them is gone.

    Workers on a cluster keep a new writer out by the writer_lock beside it, whatever engine the new one takes.

    Raises:
        HearsightError: somebody else still writes ``what`` after a short wait.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as handle:
        deadline = time.monotonic() + LOCK_PATIENCE
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    handle.seek(0)
                    raise HearsightError(
                        f"{what} is being written by process {handle.read().strip() or '?'}",
                        where=path,
                        hint="wait for it to end, or end that process",
                    ) from None
                time.sleep(0.1)
        handle.seek(0)
        handle.truncate()
        handle.write(str(os.getpid()))
        handle.flush()
        writer_lock = WriterLock.path_for(path)
        if writer_lock.exists():
            WriterLock.acquire(writer_lock, what, LOCK_PATIENCE)
        yield
