"""Processes that die with their parent, and the lock of an output's writer."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from components.core.errors import HearsightError
from components.execution.writer_lock import WriterLock

PR_SET_PDEATHSIG = 1
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's mallopt."""
KEPT = 1 << 30
"""Bytes of freed memory that a process may keep, and from which on an array gets a mapping of its own."""
USUALLY_KEPT = 32 << 20
"""The same for other processes: the most that glibc's own rule reaches."""
POLL = 0.25
"""Seconds between two looks for a process."""
LOCK_PATIENCE = 20.0
"""Seconds a new writer waits for the workers of a killed one to end."""


def die_with_parent(parent: int | None = None) -> None:
    """Have the kernel kill this process when its parent ends; where the kernel cannot (macOS), a thread looks for the parent.

    Args:
        parent: pid of the expected parent; when it has ended already, this process exits.
    """
    if sys.platform != "linux":
        expected = os.getppid() if parent is None else parent
        return _die_when(lambda: os.getppid() != expected)  # a process whose parent has ended gets another parent
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def _die_when(ended: Callable[[], bool]) -> None:
    """Kill this process, from a thread, when ``ended`` returns True."""

    def watch() -> None:
        while not ended():
            time.sleep(POLL)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True, name="end-watch").start()


def keep_freed_memory() -> None:
    """Have glibc's malloc keep memory that is freed, instead of returning it to the kernel (elsewhere a no-op).

    A network's layers allocate and free large arrays, and the kernel clears each page anew: for EfficientNet-lite0 a quarter of
    the time of an image (benchmarks/README.md).
    """
    _keep_at_most(KEPT)


def return_freed_memory() -> None:
    """Return freed memory to the kernel, now and from now on: undo :func:`keep_freed_memory` (elsewhere a no-op).

    A limit of address space does not count what an allocation takes from kept memory.
    """
    _keep_at_most(USUALLY_KEPT)
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _keep_at_most(amount: int) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_TRIM_THRESHOLD, amount)
        mallopt(M_MMAP_THRESHOLD, amount)


def die_with_ancestor(name: str) -> None:
    """Kill this process when its nearest ancestor that runs the program ``name`` ends.

    The kernel's signal covers the direct parent only. A shell in between can survive, so a thread polls the ancestor.
    """
    pid = ancestor(name)
    if pid is None:
        return
    die_with_parent()
    started = start_time(pid)
    _die_when(lambda: start_time(pid) != started)


def ancestor(name: str) -> int | None:
    """Return the pid of the nearest of four ancestors that runs the program or module ``name``; None when there is none."""
    # Here, and below: networks alone are trained without it (benchmarks/gpu_flickr8k.py).
    import psutil

    with suppress(psutil.Error):
        for process in psutil.Process().parents()[:4]:
            if any(Path(part).name.rpartition(".")[2] == name for part in process.cmdline()[:3]):
                return int(process.pid)
    return None


def start_time(pid: int) -> str | None:
    """Return the start time of a process, which with the pid identifies it; None when it has ended."""
    import psutil  # here: see above

    try:
        return str(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


@contextmanager
def sole_writer(path: Path, what: str, patience: float = 0.0) -> Iterator[None]:
    """Hold the lock at ``path``. Forked workers inherit it, so it is free only when all of them have ended.

    Workers on a cluster hold locks of the :class:`WriterLock` beside it; a new writer waits for these with every engine.

    Args:
        patience: seconds to wait beyond :data:`LOCK_PATIENCE`.

    Raises:
        HearsightError: another process still writes ``what`` then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as handle:
        deadline = time.monotonic() + LOCK_PATIENCE + patience
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
