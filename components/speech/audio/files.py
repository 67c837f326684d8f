"""Sound files: any of them in, 16 kHz FLAC out.

Everything in this project is mono float32 in -1..1 at 16 kHz (CSC, section 2.2) once it has passed here. FLAC and Ogg are
decoded by libsndfile, block by block, so that no length a header claims is ever set aside; WAV is read by ``wav``. Channels are
mixed down to their mean: what is on one of two comes 6 dB quieter, and what is opposite on both vanishes.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from components.core.errors import HearsightError
from components.speech.audio.wav import HIGHEST_RATE_HZ, LOWEST_RATE_HZ, MOST_CHANNELS, read_wav

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

RATE_HZ = 16_000
"""The sampling rate of everything that leaves this module (CSC, section 2.2)."""
LONGEST_SECONDS = 600.0
"""A longer file is no utterance, and refused."""
LARGEST_BYTES = 1 << 29
"""A larger file is refused unread: 512 MiB hold ten minutes of nearly everything."""
OVERSHOOT = 1.5
"""Peaks up to here are what a lossy codec or a resampler adds to full scale, and not worth a warning."""
FULL_SCALE = 32767 / 32768
"""The largest sample of 16 bits."""
CEILING = 0.99
"""Of full scale: the peak of what had to be turned down, so that packing it clips nothing."""
_BLOCK = 1024
"""Samples decoded at a time: what is lost with the block that a file breaks in."""


def resample(samples: Samples, rate: int) -> Samples:
    """Mono float samples at ``rate`` Hz as contiguous float32 at 16 kHz."""
    import soxr

    if rate != RATE_HZ and len(samples):
        samples = soxr.resample(samples, rate, RATE_HZ, quality="HQ")
    return np.ascontiguousarray(samples, dtype=np.float32)


def as_16_bit(samples: Samples) -> NDArray[np.int16]:
    """Float samples as :func:`to_flac` stores them, as whole numbers: it takes these in less time, and what is measured of
    them is what is stored."""
    whole = samples * np.float32(32768.0)
    np.rint(whole, out=whole)
    np.minimum(whole, 32767.0, out=whole)
    np.maximum(whole, -32768.0, out=whole)
    return whole.astype(np.int16)


def to_flac(samples: Samples | NDArray[np.int16]) -> bytes:
    """Float samples, or those of :func:`as_16_bit`, as a 16 kHz, 16-bit FLAC file."""
    import soundfile

    buffer = io.BytesIO()
    soundfile.write(buffer, samples, RATE_HZ, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()


def from_flac(flac: bytes) -> Samples:
    """Return the samples of a file that :func:`to_flac` wrote."""
    import soundfile

    samples: Samples = soundfile.read(io.BytesIO(flac), dtype="float32")[0]
    return samples


@dataclass(frozen=True)
class Sound:
    """What was in a file."""

    samples: Samples
    """float32 mono at 16 kHz in -1..1, at least one."""
    rate: int
    """Hz, the file's own."""
    channels: int
    """The file's own."""
    warnings: tuple[str, ...]
    """What the file said wrongly of itself, and what was made of it."""
    over: int = 0
    """The file's samples at full scale or beyond, after channels were mixed: what was clipped when it was recorded, and more."""
    gain: float = 0.0
    """dB, not above 0: what was beyond full scale (lossy codecs and resamplers overshoot) was turned down by this as a whole."""


def read_sound(data: bytes | Path, where: str = "") -> Sound:
    """Return the sound of a file; what is really in it where its header says something else.

    Args:
        data: the file, or where it lies.
        where: what to call it in an error; the path when none is given.

    Raises:
        HearsightError: it cannot be read, is none of WAV, FLAC and Ogg, holds no samples, or is too long.
    """
    where = where or (str(data) if isinstance(data, Path) else "sound")
    content = _content(data, where)
    warnings: list[str] = []
    if content[:4] in (b"RIFF", b"RIFX", b"RF64"):
        found = read_wav(content, where, warnings, LONGEST_SECONDS) or _decoded(content, where, warnings)
    elif content[:4] in (b"fLaC", b"OggS"):
        found = _decoded(content, where, warnings)
    else:
        what = "is empty" if not content else "is neither a WAV nor a FLAC nor an Ogg file"
        raise HearsightError(what, where=where, hint="leave it out, or convert it")
    mono, rate, channels = found
    unreal = int(np.count_nonzero(~np.isfinite(mono)))
    if unreal == len(mono):
        raise HearsightError("holds no samples" if not len(mono) else "holds no number among its samples", where=where)
    if unreal:
        warnings.append(f"{unreal} samples are no numbers: silence in their place")
        mono = np.where(np.isfinite(mono), mono, 0.0)
    over = int(np.count_nonzero(np.abs(mono) >= FULL_SCALE))
    mono, down = _within(mono, warnings)
    samples, more = _within(resample(mono.astype(np.float32), rate), [])
    if not len(samples):
        raise HearsightError("holds no samples", where=where)
    return Sound(samples, rate, channels, tuple(warnings), over, 20.0 * math.log10(down * more))


def _content(data: bytes | Path, where: str) -> bytes:
    try:
        size = data.stat().st_size if isinstance(data, Path) else len(data)
        if size > LARGEST_BYTES:
            raise HearsightError(f"has {size} bytes, more than {LARGEST_BYTES}", where=where, hint="cut it into utterances")
        return data.read_bytes() if isinstance(data, Path) else data
    except OSError as error:
        raise HearsightError(f"cannot be read: {error.strerror or error}", where=where) from error


def _decoded(content: bytes, where: str, warnings: list[str]) -> tuple[NDArray[np.floating], int, int]:
    """Mono samples, rate and channels of what libsndfile can decode; what comes before a broken place is kept."""
    import soundfile

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


def _within(samples: NDArray[np.floating], warnings: list[str]) -> tuple[NDArray[np.floating], float]:
    """Samples that exceed full scale turned down as a whole, to ``CEILING``; and the factor."""
    peak = float(np.abs(samples).max(initial=0.0))
    if peak <= 1.0:
        return samples, 1.0
    if peak > OVERSHOOT:
        warnings.append(f"its largest sample is {peak:.3g} times full scale: turned down to it")
    return (samples * (CEILING / peak)).astype(samples.dtype), CEILING / peak
