"""Reads WAV files; lengths, channels and rates in the header are checked against the bytes present."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from components.core.errors import HearsightError

LOWEST_RATE_HZ, HIGHEST_RATE_HZ = 8_000, 192_000
"""Accepted sampling rates: speech needs 8 kHz, and no recorder exceeds 192 kHz."""
MOST_CHANNELS = 32
"""Maximum number of channels."""
MOST_CHUNKS = 1000
"""Maximum number of chunks searched before and after the samples."""
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_STREAMED = 0xFFFFFFFF
_FORMAT_BYTES = 40


@dataclass(frozen=True)
class _Format:
    tag: int
    channels: int
    rate: int
    width: int
    """Bytes of one sample of one channel."""


def read_wav(content: bytes, where: str, warnings: list[str], longest: float) -> tuple[NDArray[np.floating], int, int] | None:
    """Return mono samples (full scale 1.0), rate and channels; None for compressed formats, which libsndfile may decode.

    Raises:
        HearsightError: no format chunk, no samples, or more than ``longest`` seconds.
    """
    order = ">" if content[:4] == b"RIFX" else "<"
    chunks = find_chunks(content, order)
    if content[8:12] != b"WAVE" or "fmt " not in chunks:
        raise HearsightError("is a WAV file without a format chunk", where=where, hint="leave it out, or convert it")
    start, _ = chunks["fmt "]
    form = _format(content[start : start + _FORMAT_BYTES], order, where, warnings)
    if form.tag not in (_PCM, _FLOAT):
        return None
    if "data" not in chunks:
        raise HearsightError("is a WAV file that ends before its samples", where=where, hint="leave it out")
    start, size = chunks["data"]
    stop = _end_of_data(content, start, size, order, warnings, content[:4] == b"RF64")
    frames = (stop - start) // (form.width * form.channels)
    if frames > longest * form.rate:
        raise HearsightError(f"is longer than {longest:.0f} s", where=where, hint="cut it into utterances")
    if not frames:
        raise HearsightError("holds no samples", where=where, hint="leave it out")
    data = memoryview(content)[start : start + frames * form.width * form.channels]
    with np.errstate(over="ignore", invalid="ignore"):
        samples = _samples(data, form, order)
        mono = samples if form.channels == 1 else samples.reshape(frames, form.channels).mean(axis=1)
    return mono, form.rate, form.channels


def find_chunks(content: bytes, order: str) -> dict[str, tuple[int, int]]:
    """Return name → (offset of the content, size in the header) of format and samples; other chunks are keyed by offset."""
    chunks: dict[str, tuple[int, int]] = {}
    at = 12
    while at + 8 <= len(content) and len(chunks) < MOST_CHUNKS:
        name = content[at : at + 4].decode("latin-1")
        (size,) = struct.unpack_from(f"{order}I", content, at + 4)
        chunks.setdefault(name if name in ("fmt ", "data") else f"{at}", (at + 8, size))
        if name == "data":
            break
        at += 8 + size + size % 2
    if "data" not in chunks and (at := content.find(b"data", 12, 12 + (1 << 16))) > 0 and at + 8 <= len(content):
        # A chunk with a wrong size leads past the samples.
        chunks["data"] = (at + 8, struct.unpack_from(f"{order}I", content, at + 4)[0])
    return chunks


def _format(chunk: bytes, order: str, where: str, warnings: list[str]) -> _Format:
    """Return the format. Redundant fields are checked against each other, and contradictions resolved with a warning."""
    if len(chunk) < 16:
        raise HearsightError("is a WAV file that ends within its format", where=where, hint="leave it out")
    tag, channels, rate, speed, align, bits = struct.unpack_from(f"{order}HHIIHH", chunk)
    if tag == _EXTENSIBLE and len(chunk) >= 26:
        (tag,) = struct.unpack_from(f"{order}H", chunk, 24)
    width = -(-bits // 8)
    if tag not in (_PCM, _FLOAT):
        return _Format(tag, channels, rate, width)
    if width not in ((1, 2, 3, 4) if tag == _PCM else (4, 8)):
        raise HearsightError(f"says {bits} bits a sample", where=where, hint="convert it")
    plausible = range(1, MOST_CHANNELS + 1)
    if channels * width != align:
        stated = channels
        # The speed (bytes a second) decides between channels and alignment; otherwise channels count first.
        other = align // width if align % width == 0 else 0
        if channels not in plausible or (speed == rate * align and other in plausible):
            channels = other
        warnings.append(f"states {stated} channels but {align} bytes per frame: read as {channels} channels")
    if channels not in plausible:
        raise HearsightError(f"says {channels} channels", where=where, hint="convert it")
    if not LOWEST_RATE_HZ <= rate <= HIGHEST_RATE_HZ:
        derived = speed // (channels * width)
        if not LOWEST_RATE_HZ <= derived <= HIGHEST_RATE_HZ:
            raise HearsightError(f"says {rate} Hz", where=where, hint="convert it to a known rate")
        warnings.append(f"says {rate} Hz and {speed} bytes a second: taken for {derived} Hz")
        rate = derived
    return _Format(tag, channels, rate, width)


def _end_of_data(content: bytes, start: int, size: int, order: str, warnings: list[str], long: bool) -> int:
    """Return the end offset of the samples: the header's if chunks or nothing follow there, else the end of the file."""
    stop, end = start + size, len(content)
    present = end - start
    if stop >= end:
        if stop > end and not (long and size == _STREAMED):
            warnings.append(f"says {size} bytes of samples and holds {present}")
        return end
    if only_chunks(content, stop + size % 2, order) or not content[stop:].strip(b"\0"):
        return stop
    warnings.append(f"says {size} bytes of samples and holds {present}")
    return end


def only_chunks(content: bytes, at: int, order: str) -> bool:
    """Return whether only complete chunks (or an ID3 tag) fill the file from ``at`` to its end."""
    for _ in range(MOST_CHUNKS):
        if at + 8 > len(content):
            break
        name = content[at : at + 4]
        if name[:3] in (b"TAG", b"ID3"):
            return True
        (size,) = struct.unpack_from(f"{order}I", content, at + 4)
        if not all(0x20 <= letter < 0x7F for letter in name) or at + 8 + size > len(content):
            return False
        at += 8 + size + size % 2
    return len(content) - at < 8


def _samples(data: memoryview, form: _Format, order: str) -> NDArray[np.floating]:
    """Return the interleaved samples, full scale 1.0."""
    if form.tag == _FLOAT:
        return np.frombuffer(data, f"{order}f{form.width}").astype(np.float64)
    if form.width == 1:
        return (np.frombuffer(data, np.uint8).astype(np.float32) - 128) / 128
    if form.width == 3:
        # Three bytes become the upper three of four.
        four = np.zeros((len(data) // 3, 4), np.uint8)
        four[:, slice(1, 4) if order == "<" else slice(0, 3)] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        return four.view(f"{order}i4")[:, 0].astype(np.float64) / 2**31
    return np.frombuffer(data, f"{order}i{form.width}").astype(np.float64) / 2 ** (8 * form.width - 1)
