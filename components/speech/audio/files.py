"""Reads WAV, FLAC and Ogg files; writes 16 kHz FLAC.

All audio in this project is mono float32 in -1..1 at 16 kHz (CSC §2.2). FLAC and Ogg are decoded by libsndfile block by block,
so that memory follows the content and not the header's length; WAV is read by ``wav``. Channels are averaged: a sound on one
of two channels becomes 6 dB quieter, and opposite phases cancel.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from components.core.errors import HearsightError
from components.speech.audio.wav import HIGHEST_RATE_HZ, LOWEST_RATE_HZ, MOST_CHANNELS, read_wav

Samples = NDArray[np.float32]
RATE_HZ = 16_000
"""The sampling rate of all output of this module (CSC §2.2)."""
LONGEST_SECONDS = 600.0
"""Maximum length of a file; a longer one is not an utterance."""
LARGEST_BYTES = 1 << 29
"""Maximum size of a file: 512 MiB hold ten minutes in nearly every format."""
OVERSHOOT = 1.5
"""Peaks up to this multiple of full scale come from lossy codecs and resamplers, and give no warning."""
FULL_SCALE = 32767 / 32768
"""The largest sample of 16 bits."""
CEILING = 0.99
"""Peak, of full scale, of an attenuated clip, so that 16 bits do not clip it."""
_BLOCK = 1024
"""Samples decoded at a time; a damaged file loses at most one block."""


def resample(samples: Samples, rate: int) -> Samples:
    """Return mono float samples at ``rate`` Hz as contiguous float32 at 16 kHz."""
    if rate != RATE_HZ and len(samples):
        samples = soxr.resample(samples, rate, RATE_HZ, quality="HQ")
    return np.ascontiguousarray(samples, dtype=np.float32)


def to_int16(samples: Samples) -> NDArray[np.int16]:
    """Return float samples as the 16-bit integers that :func:`to_flac` stores; measures of these equal those of the file."""
    whole = samples * np.float32(32768.0)
    np.rint(whole, out=whole)
    np.minimum(whole, 32767.0, out=whole)
    np.maximum(whole, -32768.0, out=whole)
    return whole.astype(np.int16)


def to_flac(samples: Samples | NDArray[np.int16]) -> bytes:
    """Return float samples, or those of :func:`to_int16`, as a 16 kHz, 16-bit FLAC file."""
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, RATE_HZ, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()


def from_flac(flac: bytes) -> Samples:
    """Return the float32 samples of a file from :func:`to_flac`."""
    samples: Samples = soundfile.read(io.BytesIO(flac), dtype="float32")[0]
    return samples


@dataclass(frozen=True)
class Sound:
    """The content of a sound file."""

    samples: Samples
    """float32 mono at 16 kHz in -1..1, at least one."""
    rate: int
    """Hz, of the file."""
    channels: int
    """Of the file."""
    warnings: tuple[str, ...]
    """Contradictions in the file and how they were resolved."""
    over: int = 0
    """Samples of the file at full scale or beyond, after averaging channels: clipped in the recording, or overshoot."""
    gain: float = 0.0
    """dB, at most 0: attenuation of a clip that exceeds full scale."""


def read_sound(data: bytes | Path, where: str = "") -> Sound:
    """Return the content of a file; where the header contradicts the bytes, the bytes count.

    Args:
        data: the file's bytes, or its path.
        where: name in error messages; by default the path.

    Raises:
        HearsightError: unreadable, another format than WAV, FLAC and Ogg, without samples, or too long.
    """
    where = where or (str(data) if isinstance(data, Path) else "sound")
    content = _content(data, where)
    warnings: list[str] = []
    if content[:4] in (b"RIFF", b"RIFX", b"RF64"):
        decoded = read_wav(content, where, warnings, LONGEST_SECONDS) or _decode(content, where, warnings)
    elif content[:4] in (b"fLaC", b"OggS"):
        decoded = _decode(content, where, warnings)
    else:
        what = "is empty" if not content else "is neither a WAV nor a FLAC nor an Ogg file"
        raise HearsightError(what, where=where, hint="leave it out, or convert it")
    mono, rate, channels = decoded
    not_finite = int(np.count_nonzero(~np.isfinite(mono)))
    if not_finite == len(mono):
        raise HearsightError("holds no samples" if not len(mono) else "has no finite sample", where=where)
    if not_finite:
        warnings.append(f"{not_finite} samples are NaN or infinite: replaced by zeros")
        mono = np.where(np.isfinite(mono), mono, 0.0)
    over = int(np.count_nonzero(np.abs(mono) >= FULL_SCALE))
    mono, factor = _attenuate(mono, warnings)
    samples, second_factor = _attenuate(resample(mono.astype(np.float32), rate), [])
    if not len(samples):
        raise HearsightError("holds no samples", where=where)
    return Sound(samples, rate, channels, tuple(warnings), over, 20.0 * math.log10(factor * second_factor))


def _content(data: bytes | Path, where: str) -> bytes:
    try:
        size = data.stat().st_size if isinstance(data, Path) else len(data)
        if size > LARGEST_BYTES:
            raise HearsightError(f"has {size} bytes, more than {LARGEST_BYTES}", where=where, hint="cut it into utterances")
        return data.read_bytes() if isinstance(data, Path) else data
    except OSError as error:
        raise HearsightError(f"cannot be read: {error.strerror or error}", where=where) from error


def _decode(content: bytes, where: str, warnings: list[str]) -> tuple[NDArray[np.floating], int, int]:
    """Return mono samples, rate and channels by libsndfile; samples before a damaged block are kept."""
    blocks: list[NDArray[np.float32]] = []
    count = 0
    try:
        with soundfile.SoundFile(io.BytesIO(content)) as file:
            rate, channels, claimed = file.samplerate, file.channels, file.frames
            if not LOWEST_RATE_HZ <= rate <= HIGHEST_RATE_HZ or channels > MOST_CHANNELS:
                raise HearsightError(f"says {rate} Hz and {channels} channels", where=where, hint="convert it")
            while count <= LONGEST_SECONDS * rate:
                try:
                    block = file.read(_BLOCK, dtype="float32", always_2d=True)
                except soundfile.LibsndfileError as error:
                    warnings.append(f"is broken after {count} samples: {error}")
                    break
                if not len(block):
                    break
                blocks.append(block.mean(axis=1))
                count += len(block)
    except soundfile.SoundFileError as error:
        raise HearsightError(f"cannot be decoded: {error}", where=where, hint="leave it out, or convert it") from error
    if count > LONGEST_SECONDS * rate:
        raise HearsightError(f"is longer than {LONGEST_SECONDS:.0f} s", where=where, hint="cut it into utterances")
    if not blocks:
        raise HearsightError("holds no samples", where=where)
    if count < claimed < 1 << 62:
        warnings.append(f"says {claimed} samples and holds {count}")
    return np.concatenate(blocks), rate, channels


def _attenuate(samples: NDArray[np.floating], warnings: list[str]) -> tuple[NDArray[np.floating], float]:
    """Return the clip and its factor: scaled so that the peak is ``CEILING`` if it exceeds full scale, else unchanged."""
    peak = float(np.abs(samples).max(initial=0.0))
    if peak <= 1.0:
        return samples, 1.0
    if peak > OVERSHOOT:
        warnings.append(f"its largest sample is {peak:.3g} times full scale: turned down to it")
    return (samples * (CEILING / peak)).astype(samples.dtype), CEILING / peak
