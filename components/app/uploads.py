"""Limits on images and sounds that people send, stricter than those of commands: several people share the memory here."""

from __future__ import annotations

import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from threading import BoundedSemaphore
from typing import TypeVar

import soundfile

from components.app.services import Services
from components.core.errors import HearsightError
from components.web.images.opening import TooLargeImageError, UnreadableImageError, open_header

MOST_PIXELS = 50_000_000
"""Pixels of an image; a telephone's have up to 50 million, which take 200 MB decoded."""
MOST_SECONDS = 60
"""Of a sound; a spoken query has some seconds. 20 MiB of FLAC can hold ten minutes, which took 1.3 GB and 19 s."""
MOST_SAMPLES = MOST_SECONDS * 2 * 96_000
"""Of a sound, over its channels: a minute of stereo at 96 kHz. A header can name 8 channels at 655 kHz."""


def limit_image(data: bytes) -> None:
    """Raise HearsightError for an image with too many pixels, by its header: nothing is decoded. Other files pass."""
    try:
        open_header(data, max_pixels=MOST_PIXELS)
    except TooLargeImageError:
        what = f"the image has more than {MOST_PIXELS // 1_000_000} million pixels"
        raise HearsightError(what, hint="make it smaller") from None
    except UnreadableImageError:  # no image, or damaged: what reads it says so
        return


def limit_sound(data: bytes) -> None:
    """Raise HearsightError for a sound that is too long, by its header: nothing is decoded. Other files pass."""
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as sound:
            # Huge where the header does not tell.
            seconds, samples = sound.frames / sound.samplerate, sound.frames * sound.channels
    except Exception:  # no sound, or damaged: what reads it says so
        return
    if seconds > MOST_SECONDS:
        raise HearsightError(f"the sound has more than {MOST_SECONDS} s", hint="give a shorter one")
    if samples > MOST_SAMPLES:
        hint = "give one with fewer channels or a lower rate"
        raise HearsightError(f"the sound has more than {MOST_SAMPLES:,} samples", hint=hint)


T = TypeVar("T")
WAITING = 3
"""Uploads that wait, each with a thread; raters need the others."""
SECONDS = 15.0
"""How long an upload waits."""


class BusyError(HearsightError):
    """A request that cannot be answered now; it can be repeated."""


class Turns:
    """Lets one image or sound be decoded at a time over all requests, so that memory is bounded in sum.

    A decoded image of 50 million pixels and its copies take .8 GB, whatever the size of its file. All in one thread: the
    allocator keeps freed memory for each thread that has decoded.
    """

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
