"""One question and its answer over two pipes, by a deadline: neither a full pipe nor an empty one can hold the asker up."""

from __future__ import annotations

import fcntl
import os
import select
import time
from contextlib import suppress

from components.speech.voices.frames import HEAD

AT_A_TIME = 1 << 16
HELD = 1 << 20
"""Bytes that the pipe of the answers holds, where that is allowed: a whole utterance, so that nobody waits for the other."""


class TooLate(Exception):
    """The deadline passed."""


class Exchange:
    """The asker's ends of the two pipes.

    Args:
        requests: the descriptor to write to.
        answers: the one to read from.
    """

    def __init__(self, requests: int, answers: int) -> None:
        self._requests, self._answers = requests, answers
        os.set_blocking(requests, False)
        os.set_blocking(answers, False)
        with suppress(OSError):  # more than a user may have, or no Linux
            fcntl.fcntl(answers, fcntl.F_SETPIPE_SZ, HELD)

    def ask(self, request: bytes, seconds: float) -> tuple[bytes, bytes]:
        """Write ``request`` (nothing, if empty) and read one frame: its kind and payload.

        Raises:
            TooLate: not within ``seconds``.
            EOFError: the other side is gone.
        """
        deadline = time.monotonic() + seconds
        left = memoryview(request)
        while left:
            self._wait(self._requests, select.POLLOUT, deadline)
            try:
                left = left[os.write(self._requests, left[:AT_A_TIME]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise EOFError from None
        kind, length = HEAD.unpack(self._exactly(HEAD.size, deadline))
        return kind, self._exactly(length, deadline)

    def _exactly(self, count: int, deadline: float) -> bytes:
        parts: list[bytes] = []
        while count:
            self._wait(self._answers, select.POLLIN, deadline)
            try:
                part = os.read(self._answers, min(count, HELD))
            except BlockingIOError:
                continue
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    @staticmethod
    def _wait(pipe: int, what: int, deadline: float) -> None:
        waiting = select.poll()
        waiting.register(pipe, what)
        if not waiting.poll(max(0.0, deadline - time.monotonic()) * 1000.0):
            raise TooLate
