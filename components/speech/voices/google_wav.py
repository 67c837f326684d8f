"""The WAV file that a speech service answers with: checked against what was asked for, and packed without loss.

A header may lie: a stream's header is written before its end is known, and a proxy may cut a body short. So the sizes are
held against the bytes that are there, and the rates against each other. Only what an annotator's answer is belongs here;
what of it can be heard is the reader's question.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator

PCM, EXTENSIBLE = 1, 0xFFFE
UNTOLD = frozenset({0, 0x7FFFFFFF, 0xFFFFFFFF})
"""Sizes of a data chunk that a stream's header gives for "to the end of the file"."""


def pcm_of(wav: bytes, rate: int) -> bytes:
    """Return the 16-bit mono samples of a WAV file, little-endian; none at all is an answer too.

    Args:
        wav: the whole file.
        rate: the sampling rate that was asked for, in Hz.

    Raises:
        ValueError: it is no such file, or its header does not fit its bytes or the rate.
    """
    if len(wav) < 12 or wav[:4] != b"RIFF" or wav[8:12] != b"WAVE":
        raise ValueError("audio that is no WAV file")
    known = False
    for name, size, start in _chunks(wav):
        if name == b"fmt ":
            _check_format(wav[start : start + min(size, len(wav) - start)], rate)
            known = True
        elif name == b"data":
            if not known:
                raise ValueError("a WAV file whose samples come before their format")
            return _samples(wav, size, start)
    raise ValueError("a WAV file without samples")


def to_lossless(pcm: bytes, rate: int) -> bytes:
    """16-bit mono samples as a FLAC file with exactly these samples; no bytes for none."""
    import numpy as np
    import soundfile

    if not pcm:
        return b""
    buffer = io.BytesIO()
    soundfile.write(buffer, np.frombuffer(pcm, dtype="<i2"), rate, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()


def _chunks(wav: bytes) -> Iterator[tuple[bytes, int, int]]:
    """(name, told size, first byte of the content) of each chunk; chunks are padded to even sizes."""
    place = 12
    while place + 8 <= len(wav):
        name, size = struct.unpack_from("<4sI", wav, place)
        yield name, size, place + 8
        place += 8 + size + size % 2


def _check_format(content: bytes, rate: int) -> None:
    if len(content) < 16:
        raise ValueError("a WAV file whose header is cut short")
    tag, channels, told, bytes_a_second, block, bits = struct.unpack_from("<HHIIHH", content)
    if tag == EXTENSIBLE and len(content) >= 26:
        tag = struct.unpack_from("<H", content, 24)[0]
    if (tag, channels, bits, block) != (PCM, 1, 16, 2):
        raise ValueError(f"a WAV file of format {tag} with {channels} channels of {bits} bits, not 16-bit mono")
    if told != rate or bytes_a_second != 2 * rate:
        raise ValueError(f"a WAV file of {told} Hz and {bytes_a_second} bytes a second, not of the {rate} Hz asked for")


def _samples(wav: bytes, size: int, start: int) -> bytes:
    there = len(wav) - start
    if size in UNTOLD and not _ends_in_chunks(wav, start + size):
        size = there
    if size > there:
        raise ValueError(f"a WAV file whose header tells of {size} bytes of samples, and {there} are there")
    if not _ends_in_chunks(wav, start + size + size % 2):
        raise ValueError(f"a WAV file with {there} bytes of samples, and its header tells of {size}")
    if size % 2:
        raise ValueError("a WAV file that ends within a sample")
    return wav[start : start + size]


def _ends_in_chunks(wav: bytes, place: int) -> bool:
    """Return whether whole chunks, or nothing, fill the file from there on (the last one's padding may be missing)."""
    while place + 8 <= len(wav):
        name, size = struct.unpack_from("<4sI", wav, place)
        if not (name.isascii() and name.decode("ascii").isprintable()):
            return False
        place += 8 + size + size % 2
    return place in (len(wav), len(wav) + 1)
