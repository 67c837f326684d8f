"""Turns of decoding: one image or sound at a time over all requests, so that memory is bounded in sum.

A decoded image of 50 million pixels and its copies take .8 GB, whatever the size of its file.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from threading import BoundedSemaphore
from typing import TypeVar

from components.app.services import Services
from components.core.errors import HearsightError

T = TypeVar("T")
WAITING = 3
"""Uploads that wait, each with a thread; raters need the others."""
SECONDS = 15.0
"""How long an upload waits."""


class BusyError(HearsightError):
    """A request that cannot be answered now; it can be repeated."""


class Turns:
    """Lets one decode at a time, all in one thread: the allocator keeps freed memory for each thread that has decoded."""

    def __init__(self, waiting: int = WAITING, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._thread, self._room = ThreadPoolExecutor(1, "decoding"), BoundedSemaphore(1 + waiting)

    def run_upload(self, work: Callable[[], T]) -> T:
        """Return ``work()``, which reads the file into memory and decodes it.

        Raises:
            BusyError: others wait already, or the ones before take long.
        """
        if not self._room.acquire(blocking=False):
            raise _busy()
        try:
            turn = self._thread.submit(work)
            wait([turn], self.seconds)
            if turn.cancel():  # it has not begun
                raise _busy()
            return turn.result()
        finally:
            self._room.release()

    def run_image_of_address(self, work: Callable[[], T]) -> T:
        """Return ``work()``, which decodes one image of an address; the number of addresses is limited, so it waits."""
        return self._thread.submit(work).result()


def _busy() -> BusyError:
    return BusyError("other images or sounds are being read: busy", hint="try again in some seconds")


def turns_of(services: Services) -> Turns:
    """Return the turns of the application."""
    return services.get("turns", Turns)
