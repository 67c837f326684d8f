"""Run a command and measure it from outside: wall time, CPU time, peak memory of all its processes together."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

EVERY = 3.0
"""Seconds between two looks at memory, which cost CPU time of what is measured; a shorter peak may be missed."""


@dataclass(frozen=True)
class Measured:
    """The figures of one command."""

    code: int
    """Exit status; negative: killed by that signal."""
    wall_s: float
    cpu_s: float
    """User and system time of every descendant that was waited for."""
    peak_gib: float
    """Largest sum of the processes' proportional set sizes: what they share is counted once."""


def measured(command: list[str], log: Path, root: Path) -> Measured:
    """Run ``command``, which changes into the root folder ``root``, to its end, its output in ``log``.

    However it ends, no process is left in the root: a server that a test left behind would hold the mounts.
    """
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done, peak = threading.Event(), [0.0]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
        threading.Thread(target=_watch, args=(root, done, peak), daemon=True).start()
        try:
            code = process.wait()
        finally:
            done.set()
            for pid in members(root):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(code, time.monotonic() - begun, cpu, peak[0])


def _watch(root: Path, done: threading.Event, peak: list[float]) -> None:
    while not done.wait(EVERY):
        peak[0] = max(peak[0], sum(_pss(pid) for pid in members(root)) / 2**20)


def members(root: Path) -> list[int]:
    """Return the processes whose root folder is ``root``."""
    found = []
    for link in Path("/proc").glob("[0-9]*/root"):
        try:
            if link.readlink() == root:
                found.append(int(link.parent.name))
        except OSError:
            continue
    return found


def _pss(pid: int) -> float:
    """Return KiB."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((float(line.split()[1]) for line in lines if line.startswith("Pss:")), 0.0)
