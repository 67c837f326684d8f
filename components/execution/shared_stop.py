"""Common shutdown of workers that send requests to a paid service: answers in flight are stored before the run ends.

The engine ends every worker at the first error, which would lose paid answers in flight. So a worker that must stop writes
its error to a file; the others start no request and store their remaining answers; then the first worker raises its error.
Each worker holds a shared lock on one file while it sends requests, so an exclusive lock means that all are done.
"""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from components.core.errors import HearsightError
from components.core.files import publish_bytes

SLACK = 5.0
"""Seconds beyond the request timeout for storing the last answers."""


class SharedStop:
    """One worker's view; ``folder`` is scratch of one run of one stage, shared by its workers."""

    def __init__(self, folder: Path) -> None:
        self._lock, self._reason = folder / "asking.lock", folder / "stop.json"

    @contextmanager
    def requesting(self) -> Iterator[None]:
        """Hold the shared lock while requests may be in flight; raise HearsightError when another worker has stopped."""
        self._lock.parent.mkdir(parents=True, exist_ok=True)
        with self._lock.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            if (error := self.stop_reason()) is not None:
                raise error
            yield

    def stop(self, error: HearsightError) -> None:
        """Stop new requests of all workers."""
        if not self._reason.exists():
            publish_bytes(self._reason, json.dumps([error.what, error.where, error.hint]).encode())

    def stop_reason(self) -> HearsightError | None:
        """Return the error of the worker that stopped first, or None."""
        try:
            what, where, hint = json.loads(self._reason.read_bytes())
        except FileNotFoundError:
            return None
        return HearsightError(what, where=where, hint=hint)

    def wait(self, timeout: float) -> None:
        """Wait until no worker has a request in flight, at most ``timeout`` seconds and ``SLACK``."""
        end = time.monotonic() + timeout + SLACK
        with self._lock.open("a") as file:
            while time.monotonic() < end:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return
                except BlockingIOError:
                    time.sleep(0.05)
