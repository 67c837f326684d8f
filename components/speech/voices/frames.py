"""What goes over the pipes between a process and its engines' hosts: a kind, a length, and that many bytes."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEAD = struct.Struct("<cI")
"""A frame's kind and the length of what follows."""
_RATE = struct.Struct("<I")
ASKED, READY, FAILED = b"A", b"R", b"E"
INT16, FLOAT32 = b"h", b"f"
"""Spoken: the rate in Hz, then the samples, little-endian."""


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    """One frame, as it is written."""
    return HEAD.pack(kind, len(payload)) + payload


def asked(speaker: str, text: str) -> bytes:
    """Return the request: ``text`` by the engine's ``speaker``. What UTF-8 cannot say (half a surrogate pair) becomes ``?``."""
    return frame(ASKED, f"{speaker}\0{text}".encode(errors="replace"))


def read_asked(payload: bytes) -> tuple[str, str]:
    """Return the speaker and the text of a request."""
    speaker, _, text = payload.decode().partition("\0")
    return speaker, text


def spoken(samples: NDArray[Any], rate: int) -> bytes:
    """Return the answer: mono samples, int16 or float in -1..1, at ``rate`` Hz."""
    kind, kept = (INT16, "<i2") if samples.dtype.kind == "i" else (FLOAT32, "<f4")
    raw = samples.astype(kept, copy=False).tobytes()
    return b"".join((HEAD.pack(kind, _RATE.size + len(raw)), _RATE.pack(rate), raw))


def read_spoken(kind: bytes, payload: bytes) -> tuple[NDArray[Any], int]:
    """Float32 samples in -1..1 and their rate in Hz; raises ValueError when it is no such answer."""
    if kind not in (INT16, FLOAT32) or len(payload) < _RATE.size:
        raise ValueError(f"a frame of kind {kind!r} and {len(payload)} bytes is no speech")
    (rate,) = _RATE.unpack_from(payload)
    samples = np.frombuffer(payload, dtype="<i2" if kind == INT16 else "<f4", offset=_RATE.size)
    # Divided by a power of two: exact, and in one pass.
    return (np.multiply(samples, np.float32(1 / 32768), dtype=np.float32) if kind == INT16 else samples.copy()), rate
