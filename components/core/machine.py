"""What differs between Linux and macOS: processes by number, and cores."""

from __future__ import annotations

import os


def process_exists(pid: int) -> bool:
    """Return whether a process of this machine has the number; one that nobody has waited for counts."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def usable_cores() -> int:
    """Return the number of cores that this process may use; where the system has no such limit, that of the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
