"""The writer lock of runs on a cluster: a new writer of an output waits until no worker of an earlier run writes.

Workers on other machines cannot inherit the runner's lock. Each locks one byte of a lock file while it works on an item. A new
writer first locks the whole file and writes a new token: it waits for running items of an earlier run, and an item of that run
that starts later reads a foreign token and fails. The locks are open-file-description locks (Linux, ``fcntl(2)``): the kernel
releases them when their last process ends, and network file systems such as NFS 4 share them between machines.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from components.core.errors import HearsightError
from components.core.files import disk_error

POLL = 0.1
"""Seconds between two attempts to take a lock."""
OVERLAP = 180.0
"""Timeout in seconds for an earlier attempt of the same item to end, e.g. on a node that lost contact with the cluster."""
FIRST_ITEM = 1
"""The byte of item 0; byte 0 is the driver's."""


@dataclass(frozen=True)
class WriterLock:
    """The lock file of an output and the token of one run; it is pickled with each item."""

    path: Path
    token: str

    @staticmethod
    def path_for(lock: Path) -> Path:
        """Return the path of the writer lock that belongs to the runner's lock ``lock``."""
        return lock.with_name(lock.name + ".fence")

    @classmethod
    def acquire(cls, path: Path, what: str, patience: float) -> WriterLock:
        """Write a new token to ``path`` when no worker of an earlier run holds a lock; return the run's lock.

        Args:
            path: a file on the file system that all workers share.

        Raises:
            HearsightError: an item of an earlier run is still running after that time, or the file system has no such locks.
        """
        lock = cls(path, uuid.uuid4().hex)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b", buffering=0) as handle:
            if not _lock(handle, 0, 0, patience):
                raise HearsightError(
                    f"{what} is still being written by a task of an earlier run, on a cluster",
                    where=path,
                    hint="wait for the cluster to end it, or end that worker",
                )
            handle.truncate(0)
            handle.write(lock.token.encode())
            os.fsync(handle.fileno())
        return lock

    @contextmanager
    def hold_driver_byte(self) -> Iterator[None]:
        """Lock the driver's byte, by which workers find out whether locks reach their machine."""
        with self.path.open("r+b", buffering=0) as handle:
            _lock(handle, 0, 1, 0.0)
            yield

    def reaches_this_machine(self) -> bool:
        """Return, in a worker, whether the lock of :meth:`hold_driver_byte` holds here; False when the file is not visible."""
        try:
            with self.path.open("r+b", buffering=0) as handle:
                return not _lock(handle, 0, 1, 0.0) and handle.read(len(self.token)) == self.token.encode()
        except (OSError, HearsightError):
            return False

    @contextmanager
    def hold_item(self, item: int) -> Iterator[None]:
        """Lock item number ``item`` of this run, in a worker.

        Raises:
            HearsightError: the lock file is not visible here, a later run has taken over, or an earlier attempt of the same item
                does not end.
        """
        try:
            handle = self.path.open("r+b", buffering=0)
        except FileNotFoundError:
            raise HearsightError(
                f"cannot be seen from node {os.uname().nodename}", where=self.path, hint="mount the project's folder there"
            ) from None
        with handle:
            free = _lock(handle, FIRST_ITEM + item, 1, OVERLAP)
            if handle.read(len(self.token)) != self.token.encode():
                raise HearsightError("a later run has taken over", where=self.path)
            if not free:
                raise HearsightError(
                    "an earlier attempt of the same work does not end", where=self.path, hint="end that worker and run again"
                )
            yield


def _lock(handle: IO[bytes], start: int, length: int, patience: float) -> bool:
    """Lock ``length`` bytes (0: all) from ``start`` exclusively; return False when another process holds them."""
    if sys.platform != "linux":
        raise HearsightError(
            "a cluster needs locks that only Linux has", where=handle.name, hint="set engine: {kind: local} in params.yaml"
        )
    deadline = time.monotonic() + patience
    # struct flock: l_type, l_whence, l_start, l_len, l_pid
    request = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    while True:
        try:
            fcntl.fcntl(handle, fcntl.F_OFD_SETLK, request)
            return True
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise disk_error(error, Path(handle.name)) from error
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL)
