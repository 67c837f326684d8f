"""Turns of decoding: one image or sound at a time over all requests, so that memory is bounded in sum.

A decoded image of 50 million pixels and its copies take .8 GB, whatever the size of its file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock

from components.app.services import Services
from components.core.errors import HearsightError

WAITING = 3
"""Uploads that wait, each with a thread; raters need the others."""
SECONDS = 15.0
"""How long an upload waits."""


class BusyError(HearsightError):
    """A request that cannot be answered now; it can be repeated."""


class Turns:
    """Lets one decode at a time; safe for threads."""

    def __init__(self, waiting: int = WAITING, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._turn, self._room = Lock(), BoundedSemaphore(1 + waiting)

    @contextmanager
    def for_upload(self) -> Iterator[None]:
        """Take a turn, before the file is read into memory.

        Raises:
            BusyError: others wait already, or the ones before take long.
        """
        if not self._room.acquire(blocking=False):
            raise _busy()
        try:
            if not self._turn.acquire(timeout=self.seconds):
                raise _busy()
            try:
                yield
            finally:
                self._turn.release()
        finally:
            self._room.release()

    @contextmanager
    def for_image_of_address(self) -> Iterator[None]:
        """Take a turn for one image of an address; the number of addresses is limited, so it waits."""
        with self._turn:
            yield


def _busy() -> BusyError:
    return BusyError("other images or sounds are being read: busy", hint="try again in some seconds")


def turns_of(services: Services) -> Turns:
    """Return the turns of the application."""
    return services.get("turns", Turns)
