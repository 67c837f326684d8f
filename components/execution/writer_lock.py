"""The fence: workers that are nobody's children keep a new writer out until the last of them is gone.

Forked workers inherit the runner's lock. Workers on other machines cannot, so each locks one byte of a file beside
it while it works, and a new writer first locks the whole file and leaves another token in it. An earlier run's
piece of work that is still going keeps the new writer waiting; one that comes late reads a token that is not its
own and does nothing. Two attempts of one piece want the same byte, so they never run at once either. The locks are
open-file-description locks (Linux; ``fcntl(2)``): the kernel frees them with the last process that has the file open,
killed or not, and a network file system carries them between machines (NFS 4 does). Not in scope: who runs the work.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
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
"""Seconds between two looks at a lock that another holds."""
OVERLAP = 180.0
"""Seconds a piece waits for an earlier attempt of itself, on a node that the cluster gave up but that still runs."""
FIRST_ITEM = 1
"""The byte of piece 0; byte 0 is the running driver's."""


@dataclass(frozen=True)
class WriterLock:
    """One run's claim on a fence file; picklable, so that it travels with the work."""

    path: Path
    token: str

    @staticmethod
    def path_for(lock: Path) -> Path:
        """Where the fence of the run that holds ``lock`` lies."""
        return lock.with_name(lock.name + ".fence")

    @classmethod
    def acquire(cls, path: Path, what: str, patience: float) -> WriterLock:
        """A new fence at ``path``, once no piece of an earlier run is being worked on.

        Args:
            path: on the file system that all workers share.
            what: is written, for the message.
            patience: seconds to wait.

        Raises:
            HearsightError: a piece of an earlier run is still being worked on after that time, or the file system
                has no such locks.
        """
        fence = cls(path, uuid.uuid4().hex)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b", buffering=0) as handle:
            if not _lock(handle, 0, 0, patience):
                raise HearsightError(
                    f"{what} is still being written by a task of an earlier run, on a cluster",
                    where=path,
                    hint="wait for the cluster to end it, or end that worker",
                )
            handle.truncate(0)
            handle.write(fence.token.encode())
            os.fsync(handle.fileno())
        return fence

    @contextmanager
    def hold_driver_byte(self) -> Iterator[None]:
        """Hold the driver's own byte meanwhile, which is how a worker finds out whether locks reach it."""
        with self.path.open("r+b", buffering=0) as handle:
            _lock(handle, 0, 1, 0.0)
            yield

    def reaches_this_machine(self) -> bool:
        """In a worker: whether the lock of :meth:`hold_driver_byte` is felt here; False also when the file is not seen."""
        try:
            with self.path.open("r+b", buffering=0) as handle:
                return not _lock(handle, 0, 1, 0.0) and handle.read(len(self.token)) == self.token.encode()
        except (OSError, HearsightError):
            return False

    @contextmanager
    def hold_item(self, item: int) -> Iterator[None]:
        """In a worker: be the one that works on ``piece`` of this run.

        Raises:
            HearsightError: this machine does not see the fence, a later run has taken over, or an earlier attempt
                of the same piece does not end.
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
    """Take the exclusive lock on ``length`` bytes (0: all) from ``start``; False when it stays another's."""
    deadline = time.monotonic() + patience
    # struct flock: l_type, l_whence, l_start, l_len, l_pid
    wanted = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    while True:
        try:
            fcntl.fcntl(handle, fcntl.F_OFD_SETLK, wanted)
            return True
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise disk_error(error, Path(handle.name)) from error
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL)
