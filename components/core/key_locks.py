"""Locks on keys between processes, so that no two pay for the same result.

A lock covers one byte of a file, at an offset from the key's digest; the kernel releases it when the process dies. Two keys with
the same byte wait for each other, which is harmless.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class KeyLocks:
    """The key locks of this process in one file; see :func:`open_key_locks`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def acquire(self, key: str, *, wait: bool = False) -> bool:
        """Lock the key; return False when another process holds it. With ``wait``, block until it is free."""
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, _byte(key))
        except (BlockingIOError, PermissionError):
            return False
        return True

    def release(self, key: str) -> None:
        """Unlock the key."""
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _byte(key))


@contextmanager
def open_key_locks(path: Path) -> Iterator[KeyLocks]:
    """Open the lock file at ``path``; all locks are released at the end.

    A process must not open the same file twice at a time: closing one would release the locks of both.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        yield KeyLocks(descriptor)
    finally:
        os.close(descriptor)


def _byte(key: str) -> int:
    """Return the offset of the key's byte."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:7], "big")
