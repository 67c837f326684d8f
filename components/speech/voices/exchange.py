"""A request and its answer over two non-blocking pipes, with a deadline."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import time
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEAD = struct.Struct("<cI")
"""Header of a frame: kind, length of the payload."""
_RATE = struct.Struct("<I")
REQUEST, READY, FAILED = b"A", b"R", b"E"
INT16, FLOAT32 = b"h", b"f"
"""Kinds of speech: the rate in Hz, then the samples, little-endian."""


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    """Return the bytes of a frame."""
    return HEAD.pack(kind, len(payload)) + payload


def encode_request(speaker: str, text: str) -> bytes:
    """Return the frame that requests ``text`` by the engine's ``speaker``. Lone surrogates become ``?``."""
    return frame(REQUEST, f"{speaker}\0{text}".encode(errors="replace"))


def decode_request(payload: bytes) -> tuple[str, str]:
    """Return the speaker and the text of a request."""
    speaker, _, text = payload.decode().partition("\0")
    return speaker, text


def encode_speech(samples: NDArray[Any], rate: int) -> bytes:
    """Return the frame of mono samples, int16 or float in -1..1, at ``rate`` Hz; raise TypeError for any other array."""
    if samples.ndim != 1 or not (samples.dtype == np.int16 or samples.dtype.kind == "f"):
        raise TypeError(f"speech must be int16 or float of one dimension, not {samples.dtype} of {samples.ndim} dimensions")
    kind, dtype = (INT16, "<i2") if samples.dtype.kind == "i" else (FLOAT32, "<f4")
    raw = samples.astype(dtype, copy=False).tobytes()
    return b"".join((HEAD.pack(kind, _RATE.size + len(raw)), _RATE.pack(rate), raw))


def decode_speech(kind: bytes, payload: bytes) -> tuple[NDArray[Any], int]:
    """Return float32 samples in -1..1 and their rate in Hz; raise ValueError for another kind of frame."""
    if kind not in (INT16, FLOAT32) or len(payload) < _RATE.size:
        raise ValueError(f"a frame of kind {kind!r} and {len(payload)} bytes is not speech")
    (rate,) = _RATE.unpack_from(payload)
    samples = np.frombuffer(payload, dtype="<i2" if kind == INT16 else "<f4", offset=_RATE.size)
    # A power of two: exact.
    return (np.multiply(samples, np.float32(1 / 32768), dtype=np.float32) if kind == INT16 else samples.copy()), rate


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
