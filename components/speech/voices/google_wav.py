"""Checks the WAV file of a speech service against the requested format.

A header may be wrong: a stream's header is written before its length is known, and a proxy may cut a body short. So sizes
are compared with the bytes present, and rates with each other. Whether the audio is audible is checked by the reader.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

PCM, EXTENSIBLE = 1, 0xFFFE
STREAM_SIZES = frozenset({0, 0x7FFFFFFF, 0xFFFFFFFF})
"""Sizes of a data chunk that mean "to the end of the file" in a stream's header."""


def read_pcm(wav: bytes, rate: int) -> bytes:
    """Return the 16-bit mono samples of a WAV file, little-endian; there may be none.

    Args:
        wav: the whole file.
        rate: the requested sampling rate in Hz.

    Raises:
        ValueError: another format, or a header that contradicts the bytes or the rate.
    """
    if len(wav) < 12 or wav[:4] != b"RIFF" or wav[8:12] != b"WAVE":
        raise ValueError("audio that is not a WAV file")
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


def _chunks(wav: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield (name, size in the header, offset of the content) of each chunk; chunks are padded to even sizes."""
    offset = 12
    while offset + 8 <= len(wav):
        name, size = struct.unpack_from("<4sI", wav, offset)
        yield name, size, offset + 8
        offset += 8 + size + size % 2


def _check_format(content: bytes, rate: int) -> None:
    if len(content) < 16:
        raise ValueError("a WAV file whose header is cut short")
    tag, channels, header_rate, bytes_a_second, block, bits = struct.unpack_from("<HHIIHH", content)
    if tag == EXTENSIBLE and len(content) >= 26:
        tag = struct.unpack_from("<H", content, 24)[0]
    if (tag, channels, bits, block) != (PCM, 1, 16, 2):
        raise ValueError(f"a WAV file of format {tag} with {channels} channels of {bits} bits, not 16-bit mono")
    if header_rate != rate or bytes_a_second != 2 * rate:
        raise ValueError(f"a WAV file of {header_rate} Hz and {bytes_a_second} bytes a second, not of the requested {rate} Hz")


def _samples(wav: bytes, size: int, start: int) -> bytes:
    present = len(wav) - start
    if size in STREAM_SIZES and not _ends_in_chunks(wav, start + size):
        size = present
    if size > present:
        raise ValueError(f"a WAV file with {present} bytes of samples, fewer than the {size} of its header")
    if not _ends_in_chunks(wav, start + size + size % 2):
        raise ValueError(f"a WAV file with {present} bytes of samples, more than the {size} of its header")
    if size % 2:
        raise ValueError("a WAV file that ends within a sample")
    return wav[start : start + size]


def _ends_in_chunks(wav: bytes, offset: int) -> bool:
    """Return whether complete chunks, or nothing, fill the file from ``offset`` (the last one's padding may be missing)."""
    while offset + 8 <= len(wav):
        name, size = struct.unpack_from("<4sI", wav, offset)
        if not (name.isascii() and name.decode("ascii").isprintable()):
            return False
        offset += 8 + size + size % 2
    return offset in (len(wav), len(wav) + 1)
