"""Who is working on what: claims on keys between processes, so that two of them never pay for the same result.

A claim is a lock on one byte of a file, the byte that the key's digest names; the kernel takes it back from a process
that dies. Two keys may meet in one byte: then one waits for the other, which costs a moment and nothing else.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class KeyLocks:
    """This process's claims in one file; see :func:`open_key_locks`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def acquire(self, key: str, *, wait: bool = False) -> bool:
        """Claim the key; False when another process holds it, unless ``wait`` waits for that to end."""
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, _byte(key))
        except (BlockingIOError, PermissionError):
            return False
        return True

    def release(self, key: str) -> None:
        """Give the claim back."""
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _byte(key))


@contextmanager
def open_key_locks(path: Path) -> Iterator[KeyLocks]:
    """KeyLocks in the file at ``path``, all given back at the end. A process opens it once at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        yield KeyLocks(descriptor)
    finally:
        os.close(descriptor)


def _byte(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:7], "big")
