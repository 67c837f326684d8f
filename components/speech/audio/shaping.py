"""Speech said faster, higher and louder: one way for every voice, in numpy alone.

Pitch-synchronous overlap-add in the time domain (Moulines and Charpentier 1990): the voice's periods are taken out about their
marks and laid down at other distances, repeated or left out, so that pitch and length change and formants stay.
Three things differ from the textbook. Between two new marks exactly two grains sound and their windows add up to one, so
nothing is normalised and a clip whose marks stay is unchanged. Grains are laid down at half samples, as a period rounded to
whole ones sounds rough. Where no voice sounds, steps are 5 ms, bursts keep their length (they would sound twice), and a joint of
two places that do not follow each other keeps the power, not the sum, as noise there is uncorrelated.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from components.speech.audio.files import Samples

    Floats = NDArray[np.floating]

SHORTEST = 640
"""Samples: a clip shorter than three periods of a low voice (40 ms) has no pitch to change."""
HEADROOM_DB = 0.5
"""No clip's largest sample is nearer to full scale than this once it has been fitted."""
BURST = 4.0
"""A step in which the power rises this many times above that of the one before begins a burst."""
_HALF = 10
"""Taps on either side of the filter that reads half-way between samples."""
_BLOCK = 8192
"""Samples that it reads at a time."""


def shape(samples: Samples, *, rate: float, pitch: float, gain: float) -> Samples:
    """Speech said faster, higher and louder; the same bytes for the same input.

    Args:
        samples: float32 mono at 16 kHz.
        rate: 2.0 is twice as fast, 1.0 the voice's own; the result has ``round(n / rate)`` samples.
        pitch: semitones up.
        gain: dB, applied last and exactly. What then exceeds full scale is left so: see :func:`fit`.

    At ``rate`` 1 and ``pitch`` 0 only the gain is applied; a clip under 40 ms keeps its pitch and length too.
    """
    samples = np.asarray(samples, np.float32)
    if (rate != 1.0 or pitch != 0.0) and len(samples) >= SHORTEST:
        samples = _resynthesised(samples, rate, 2.0 ** (pitch / 12.0))
    return (samples * np.float32(10.0 ** (gain / 20.0))).astype(np.float32)


def fit(samples: Samples) -> tuple[Samples, float]:
    """Return the clip turned down as a whole until its peak leaves ``HEADROOM_DB``, and by how many dB: 0.0 when it already does.

    Nothing is clipped or limited. The gain that was really applied to a shaped clip is the one asked for plus this.
    """
    peak = float(np.abs(samples).max(initial=0.0))
    most = 10.0 ** (-HEADROOM_DB / 20.0)
    if peak <= most:
        return samples, 0.0
    down = np.float32(most / peak)
    return samples * down, float(20.0 * np.log10(down))


def _resynthesised(samples: Samples, rate: float, higher: float) -> Samples:
    """Return the periods of ``samples`` laid down anew: ``rate`` times as fast, at ``higher`` times the frequency."""
    from components.speech.audio.pitch_marks import pitch_marks

    marks, voiced = pitch_marks(samples)
    length = round(len(samples) / rate)
    steps = np.diff(marks)
    longer = _stretch(samples, marks, voiced, length)
    placed = np.concatenate(([0.0], np.cumsum(steps * longer)))
    # As many new steps as it takes to fill each old one at the new pitch; a new mark at every whole number.
    filled = np.concatenate(([0.0], np.cumsum(longer * np.where(voiced, higher, 1.0))))
    number = np.arange(int(np.floor(filled[-1])) + 1)
    place = np.interp(number, filled, np.arange(len(filled)))
    source = np.minimum(np.floor(place + 0.5).astype(np.intp), len(marks) - 1)
    target = np.interp(place, np.arange(len(placed)), placed)
    if target[-1] < length:
        source, target = np.append(source, len(marks) - 1), np.append(target, float(length))
    return _overlapped(samples, marks, voiced, source, target, length)


def _stretch(samples: Samples, marks: Floats, voiced: NDArray[np.bool_], length: int) -> Floats:
    """Return how many times as long each step becomes, in all ``length`` samples; a burst keeps its own length."""
    steps = np.diff(marks)
    power = (
        np.add.reduceat(np.square(samples, dtype=np.float64), np.minimum(marks[:-1].astype(np.intp), len(samples) - 1)) / steps
    )
    before = np.concatenate((power[:1], power[:-1]))
    rises = ~voiced & (power > BURST * before) & (power > 1e-4 * power.max(initial=0.0))
    kept = rises | np.concatenate((rises[1:], [False])) | (np.concatenate(([False], rises[:-1])) & ~voiced)
    fixed = float(steps[kept].sum())
    others = len(samples) - fixed
    if fixed > 0.3 * min(length, len(samples)):  # Clicks all over: no burst is to be saved there.
        return np.full(len(steps), length / len(samples))
    return np.where(kept, 1.0, (length - fixed) / others)


def _overlapped(
    samples: Samples, marks: Floats, voiced: NDArray[np.bool_], source: NDArray[np.intp], target: Floats, length: int
) -> Samples:
    """``length`` samples in which the grain about ``marks[source[j]]`` stands at ``target[j]``."""
    # Each sample between two new marks is the end of the grain before it and the beginning of the one after it.
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

    sounding = np.concatenate(([False], voiced)) | np.concatenate((voiced, [False]))
    noise = (shift[1:] != shift[:-1]) & ~sounding[source[1:]] & ~sounding[source[:-1]]
    joints = np.flatnonzero(np.repeat(noise, widths))
    kept = np.sqrt(1.0 - weight[joints]) * ending[joints] + np.sqrt(weight[joints]) * beginning[joints]
    beginning -= ending
    beginning *= weight
    beginning += ending
    beginning[joints] = kept
    return beginning


def _half_samples(samples: Samples) -> Samples:
    """Return the samples with those half-way between them, from a windowed sinc."""
    length = len(samples)
    padded = np.zeros(length + 2 * _HALF, np.float32)
    padded[_HALF : _HALF + length] = samples
    both = np.empty((length, 2), np.float32)
    both[:, 0] = samples
    # In blocks that stay in the processor's first cache.
    pair, between = np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.float32)
    for start in range(0, length, _BLOCK):
        count = min(_BLOCK, length - start)
        here, sum_of_all = pair[:count], between[:count]
        sum_of_all[:] = 0.0
        for away, weight in enumerate(_half_kernel()):
            # The pair at equal distance on either side: sample -away and sample away + 1.
            left, right = start + _HALF - away, start + _HALF + away + 1
            np.add(padded[left : left + count], padded[right : right + count], out=here)
            here *= weight
            sum_of_all += here
        both[start : start + count, 1] = sum_of_all
    return both.reshape(-1)


@cache
def _half_kernel() -> Floats:
    """One side of a sinc, seen half-way, in a cosine window; both sides add up to one."""
    at = np.arange(_HALF) + 0.5
    kernel = np.sinc(at) * np.cos(np.pi * at / (2 * _HALF)) ** 2
    return (kernel / (2 * kernel.sum())).astype(np.float32)
