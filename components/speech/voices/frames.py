"""The message format between a process and its engines' hosts: a kind, a length, and that many bytes."""

from __future__ import annotations

import struct
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
