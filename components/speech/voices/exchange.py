"""What a host and its client send each other: a request, and the speech or the failure that answers it."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

READY, FAILED = b"R", b"E"
INT16, FLOAT32 = b"h", b"f"
"""First byte of an answer. Speech goes on with the rate in Hz, then the samples, little-endian; FAILED with a message."""
_RATE = struct.Struct("<I")


def encode_request(speaker: str, text: str) -> bytes:
    """Return the request of ``text`` by the engine's ``speaker``. Lone surrogates become ``?``."""
    return f"{speaker}\0{text}".encode(errors="replace")


def decode_request(request: bytes) -> tuple[str, str]:
    """Return the speaker and the text of a request."""
    speaker, _, text = request.decode().partition("\0")
    return speaker, text


def encode_speech(samples: NDArray[Any], rate: int) -> bytes:
    """Return the answer of mono samples, int16 or float in -1..1, at ``rate`` Hz; raise TypeError for any other array."""
    if samples.ndim != 1 or not (samples.dtype == np.int16 or samples.dtype.kind == "f"):
        raise TypeError(f"speech must be int16 or float of one dimension, not {samples.dtype} of {samples.ndim} dimensions")
    kind, dtype = (INT16, "<i2") if samples.dtype.kind == "i" else (FLOAT32, "<f4")
    return kind + _RATE.pack(rate) + samples.astype(dtype, copy=False).tobytes()


def decode_speech(answer: bytes) -> tuple[NDArray[Any], int]:
    """Return float32 samples in -1..1 and their rate in Hz; raise ValueError for another answer."""
    kind, payload = answer[:1], answer[1:]
    if kind not in (INT16, FLOAT32) or len(payload) < _RATE.size:
        raise ValueError(f"an answer of kind {kind!r} and {len(payload)} bytes is not speech")
    (rate,) = _RATE.unpack_from(payload)
    samples = np.frombuffer(payload, dtype="<i2" if kind == INT16 else "<f4", offset=_RATE.size)
    # A power of two: exact.
    return (np.multiply(samples, np.float32(1 / 32768), dtype=np.float32) if kind == INT16 else samples.copy()), rate
