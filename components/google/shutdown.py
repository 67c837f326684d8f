"""Several workers that ask Google end together: when one may ask no more, the others' answers on their way are waited for.

The engine ends every worker at the first error, and an answer that a killed worker waited for is paid for and lost. So
the worker that must stop leaves a note of why; the others ask nothing new, store what still comes, and only then the
first one raises its error. Each holds a shared lock on one file while it asks; nobody holds it when all are done.
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
"""Seconds, beyond the longest request, that the last answers may take to be stored."""


class Together:
    """One worker's part; ``folder`` is scratch of one run of one stage, on disk for all its workers."""

    def __init__(self, folder: Path) -> None:
        self._lock, self._note = folder / "asking.lock", folder / "stop.json"

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While answers may come. Raises HearsightError when another worker has had to stop."""
        self._lock.parent.mkdir(parents=True, exist_ok=True)
        with self._lock.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            if (stop := self.stopped()) is not None:
                raise stop
            yield

    def stop(self, why: HearsightError) -> None:
        """Tell the others to ask nothing new."""
        if not self._note.exists():
            publish_bytes(self._note, json.dumps([why.what, why.where, why.hint]).encode())

    def stopped(self) -> HearsightError | None:
        """Why some worker has had to stop, if one has."""
        try:
            what, where, hint = json.loads(self._note.read_bytes())
        except FileNotFoundError:
            return None
        return HearsightError(what, where=where, hint=hint)

    def wait(self, longest: float) -> None:
        """Wait until no worker asks any more, for as long as a request may take."""
        end = time.monotonic() + longest + SLACK
        with self._lock.open("a") as file:
            while time.monotonic() < end:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return
                except BlockingIOError:
                    time.sleep(0.05)
