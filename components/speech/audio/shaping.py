"""Changes rate, pitch and gain of speech, alike for all voices, in numpy.

Time-domain pitch-synchronous overlap-add (Moulines and Charpentier 1990): periods around pitch marks are placed at other
distances, repeated or dropped, which changes pitch and length and keeps formants. Differences from the textbook:

- Between two new marks exactly two grains overlap, with windows that sum to one, so no normalisation is needed and a clip
  whose marks stay is unchanged.
- Grains are placed at half samples; periods rounded to whole samples sound rough.
- In unvoiced stretches steps are 5 ms, bursts keep their length (else they would sound twice), and joints of non-adjacent
  positions preserve power, not amplitude, since noise is uncorrelated.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from components.speech.audio.files import Samples
from components.speech.audio.pitch_marks import pitch_marks

Floats = NDArray[np.floating]

SHORTEST = 640
"""Samples: a clip shorter than three periods of a low voice (40 ms) keeps its pitch."""
HEADROOM_DB = 0.5
"""Distance of the peak from full scale after :func:`fit_peak`."""
BURST = 4.0
"""A step whose power is this many times that of the one before begins a burst."""
_HALF = 10
"""Taps on either side of the half-sample interpolation filter."""
_BLOCK = 8192
"""Samples that the filter processes at a time."""


def change_prosody(samples: Samples, *, rate: float, pitch: float, gain: float) -> Samples:
    """Return speech with changed rate, pitch and gain; deterministic.

    Args:
        samples: float32 mono at 16 kHz.
        rate: 2.0 is twice as fast, 1.0 unchanged; the result has ``round(n / rate)`` samples.
        pitch: semitones up.
        gain: dB, applied last. Peaks may exceed full scale: see :func:`fit_peak`.

    At ``rate`` 1 and ``pitch`` 0, and for a clip under 40 ms, only the gain is applied.
    """
    samples = np.asarray(samples, np.float32)
    if (rate != 1.0 or pitch != 0.0) and len(samples) >= SHORTEST:
        samples = _resynthesised(samples, rate, 2.0 ** (pitch / 12.0))
    return (samples * np.float32(10.0 ** (gain / 20.0))).astype(np.float32)


def fit_peak(samples: Samples) -> tuple[Samples, float]:
    """Return the clip attenuated so that its peak leaves ``HEADROOM_DB``, and the gain in dB: 0.0 when it already does.

    Nothing is clipped or limited. The total gain of a clip is the requested one plus this.
    """
    peak = float(np.abs(samples).max(initial=0.0))
    most = 10.0 ** (-HEADROOM_DB / 20.0)
    if peak <= most:
        return samples, 0.0
    factor = np.float32(most / peak)
    return samples * factor, float(20.0 * np.log10(factor))


def _resynthesised(samples: Samples, rate: float, higher: float) -> Samples:
    """Return ``samples`` resynthesised ``rate`` times as fast, at ``higher`` times the frequency."""
    marks, voiced = pitch_marks(samples)
    length = round(len(samples) / rate)
    steps = np.diff(marks)
    longer = _stretch(samples, marks, voiced, length)
    placed = np.concatenate(([0.0], np.cumsum(steps * longer)))
    # Count of new steps up to each old mark at the new pitch; a new mark lies at every whole number.
    filled = np.concatenate(([0.0], np.cumsum(longer * np.where(voiced, higher, 1.0))))
    number = np.arange(int(np.floor(filled[-1])) + 1)
    position = np.interp(number, filled, np.arange(len(filled)))
    source = np.minimum(np.floor(position + 0.5).astype(np.intp), len(marks) - 1)
    target = np.interp(position, np.arange(len(placed)), placed)
    if target[-1] < length:
        source, target = np.append(source, len(marks) - 1), np.append(target, float(length))
    return _overlapped(samples, marks, voiced, source, target, length)


def _stretch(samples: Samples, marks: Floats, voiced: NDArray[np.bool_], length: int) -> Floats:
    """Return the factor by which each step is stretched, ``length`` samples in total; a burst keeps its length."""
    steps = np.diff(marks)
    power = (
        np.add.reduceat(np.square(samples, dtype=np.float64), np.minimum(marks[:-1].astype(np.intp), len(samples) - 1)) / steps
    )
    before = np.concatenate((power[:1], power[:-1]))
    rises = ~voiced & (power > BURST * before) & (power > 1e-4 * power.max(initial=0.0))
    kept = rises | np.concatenate((rises[1:], [False])) | (np.concatenate(([False], rises[:-1])) & ~voiced)
    fixed = float(steps[kept].sum())
    others = len(samples) - fixed
    if fixed > 0.3 * min(length, len(samples)):  # bursts everywhere, as in crackle: stretch them too
        return np.full(len(steps), length / len(samples))
    return np.where(kept, 1.0, (length - fixed) / others)


def _overlapped(
    samples: Samples, marks: Floats, voiced: NDArray[np.bool_], source: NDArray[np.intp], target: Floats, length: int
) -> Samples:
    """Return ``length`` samples with the grain around ``marks[source[j]]`` at ``target[j]``."""
    # Each sample between two new marks mixes the end of one grain and the beginning of the next.
    edges = np.round(target).astype(np.int32)
    edges[-1] = length
    widths = np.diff(edges)
    at = np.arange(length, dtype=np.int32)
    weight = (at - np.repeat(edges[:-1], widths)).astype(np.float32)
    weight += np.float32(0.5)
    weight *= np.repeat(np.float32(np.pi) / np.maximum(widths, 1).astype(np.float32), widths)
    np.cos(weight, out=weight)
    weight *= np.float32(-0.5)
    weight += np.float32(0.5)

    shift = np.round(2.0 * (marks[source] - target)).astype(np.int32)
    halves = _half_samples(samples)
    at *= 2
    ending = np.take(halves, at + np.repeat(shift[:-1], widths), mode="clip")
    beginning = np.take(halves, at + np.repeat(shift[1:], widths), mode="clip")

    voiced_marks = np.concatenate(([False], voiced)) | np.concatenate((voiced, [False]))
    noise = (shift[1:] != shift[:-1]) & ~voiced_marks[source[1:]] & ~voiced_marks[source[:-1]]
    joints = np.flatnonzero(np.repeat(noise, widths))
    kept = np.sqrt(1.0 - weight[joints]) * ending[joints] + np.sqrt(weight[joints]) * beginning[joints]
    beginning -= ending
    beginning *= weight
    beginning += ending
    beginning[joints] = kept
    return beginning


def _half_samples(samples: Samples) -> Samples:
    """Return the samples interleaved with those half-way between them, by a windowed sinc."""
    length = len(samples)
    padded = np.zeros(length + 2 * _HALF, np.float32)
    padded[_HALF : _HALF + length] = samples
    both = np.empty((length, 2), np.float32)
    both[:, 0] = samples
    # Blocks fit the processor's first-level cache.
    pair, between = np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.float32)
    for start in range(0, length, _BLOCK):
        count = min(_BLOCK, length - start)
        here, sum_of_all = pair[:count], between[:count]
        sum_of_all[:] = 0.0
        for away, weight in enumerate(_half_kernel()):
            # The symmetric pair: samples -away and away + 1.
            left, right = start + _HALF - away, start + _HALF + away + 1
            np.add(padded[left : left + count], padded[right : right + count], out=here)
            here *= weight
            sum_of_all += here
        both[start : start + count, 1] = sum_of_all
    return both.reshape(-1)


@cache
def _half_kernel() -> Floats:
    """Return one side of a half-sample sinc in a cosine window; both sides sum to one."""
    at = np.arange(_HALF) + 0.5
    kernel = np.sinc(at) * np.cos(np.pi * at / (2 * _HALF)) ** 2
    return (kernel / (2 * kernel.sum())).astype(np.float32)
