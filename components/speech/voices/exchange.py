"""A request and its answer over two non-blocking pipes, with a deadline."""

from __future__ import annotations

import fcntl
import os
import select
import time
from contextlib import suppress

from components.speech.voices.frames import HEAD

WRITE_BYTES = 1 << 16
PIPE_BYTES = 1 << 20
"""Capacity of the pipe of answers, where allowed: a whole utterance, so that the writer does not wait for the reader."""


class DeadlineExceeded(Exception):
    """The deadline passed."""


class Exchange:
    """The client's ends of the two pipes.

    Args:
        requests: file descriptor to write to.
        answers: file descriptor to read from.
    """

    def __init__(self, requests: int, answers: int) -> None:
        self._requests, self._answers = requests, answers
        os.set_blocking(requests, False)
        os.set_blocking(answers, False)
        with suppress(OSError):  # above the user's limit, or not Linux
            fcntl.fcntl(answers, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def ask(self, request: bytes, seconds: float) -> tuple[bytes, bytes]:
        """Write ``request`` (nothing, if empty) and read one frame: its kind and payload.

        Raises:
            DeadlineExceeded: no answer within ``seconds``.
            EOFError: the other side has closed its end.
        """
        deadline = time.monotonic() + seconds
        left = memoryview(request)
        while left:
            self._wait(self._requests, select.POLLOUT, deadline)
            try:
                left = left[os.write(self._requests, left[:WRITE_BYTES]) :]
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
                part = os.read(self._answers, min(count, PIPE_BYTES))
            except BlockingIOError:
                continue
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    @staticmethod
    def _wait(pipe: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(pipe, event)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000.0):
            raise DeadlineExceeded
