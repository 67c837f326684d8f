"""The pitch of speech: one F0 value every 10 ms, 0 where the voice does not sound.

Autocorrelation divided by that of the window (Boersma 1993, eq. 9), on the speech low-passed and decimated to 4 kHz, all frames
of a clip in one batched FFT. Instead of a search for the best path, frames are chosen three times: alone, then near the speaker's
median, then near the median of what sounds around them; one speaker a clip makes this enough.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from components.speech.audio.files import RATE_HZ
from components.speech.audio.measures import runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]

DECIMATION = 4
LOW_RATE_HZ = RATE_HZ // DECIMATION
"""What pitch is looked for in."""
FLOOR_HZ, CEILING_HZ = 65.0, 500.0
"""Where the pitch of a voice is looked for: speech of men, women and children."""
HOP = LOW_RATE_HZ // 100
"""Low-rate samples between two frames: 10 ms."""
WINDOW = 184
"""Low-rate samples of a frame: three periods of the floor, 46 ms."""
_FFT, _FINE = 256, 2
"""Samples of the transform, and how many times finer than them the autocorrelation is read: peaks lie between."""
_TOGETHER = 128
"""Frames in one transform: as many as stay in the processor's cache."""
_SHORTEST, _LONGEST = int(_FINE * LOW_RATE_HZ / CEILING_HZ), int(_FINE * LOW_RATE_HZ / FLOOR_HZ) + 1
"""Lags looked at, in steps of ``_FINE`` a low-rate sample."""
VOICED, STILL_VOICED = 0.5, 0.4
"""Normalised autocorrelation at which voicing begins, and down to which it goes on."""
QUIETEST = 10.0 ** (-40.0 / 10.0)
"""A frame with less than this part of the loudest frame's power is not voiced."""
LEAST_PEAK = 0.25
"""Peaks below this are none."""
_OCTAVE_COST = 0.02
"""What an octave of length costs a period, in units of autocorrelation: a double period correlates as well."""
_DISTANCE_COST = 0.3
"""What an octave of distance from the pitch expected costs."""
_NEIGHBOURS = 15
"""Frames on either side that tell what pitch to expect."""


def decimated(samples: Floats) -> Floats:
    """16 kHz samples at 4 kHz; sample i stands at 16 kHz sample 4 i (a triangle of 7 taps, its zeros at 4 and 8 kHz)."""
    count = -(-len(samples) // DECIMATION)
    padded = np.zeros((count + 2, DECIMATION), np.float32)
    padded.reshape(-1)[3 : 3 + len(samples)] = samples
    # Tap j of sample i is padded[4 i + j]: three pairs at equal distance, and the middle.
    taps = [padded[j // DECIMATION : j // DECIMATION + count, j % DECIMATION] for j in range(7)]
    low = (taps[0] + taps[6]) + 2 * (taps[1] + taps[5]) + 3 * (taps[2] + taps[4]) + 4 * taps[3]
    low *= np.float32(1 / 16)
    return np.asarray(low)


def track(low: Floats) -> Floats:
    """F0 in Hz of frames centred on every ``HOP``-th sample of ``low`` (4 kHz, see :func:`decimated`); 0 = not voiced."""
    scores, audible, count = _autocorrelation(low)
    frame, lag, height = _peaks(scores)
    octaves = -np.log2(lag)
    merit = height + _OCTAVE_COST * octaves
    hertz = np.zeros(count)
    if not len(frame):
        return hertz

    # All that follows is of the audible frames, numbered among themselves but where their neighbours count.
    which, starts = _runs(frame, len(audible))
    best = _best(frame, starts, merit)
    sure = height[best] > VOICED
    if not sure.any():
        return hertz
    middle = float(np.median(octaves[best[sure]]))
    best = _best(frame, starts, merit - _DISTANCE_COST * np.maximum(np.abs(octaves - middle) - 0.5, 0.0))
    found = np.full(count, np.inf)
    sure = height[best] > VOICED
    found[audible[which[sure]]] = octaves[best[sure]]
    expected = _expected(found, middle)
    best = _best(frame, starts, merit - _DISTANCE_COST * np.abs(octaves - expected[audible[frame]]))
    strength = np.zeros(count)
    strength[audible[which]], hertz[audible[which]] = height[best], LOW_RATE_HZ / lag[best]
    hertz[~_joined(strength > VOICED, strength > STILL_VOICED)] = 0.0
    return hertz


def _peaks(scores: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return the peaks of the autocorrelation that are high enough to count: frames in order, lags in low-rate samples, heights.

    Both are those of the parabola through a peak and its neighbours.
    """
    here = scores[:, 1:-1]
    frame, column = np.nonzero((here > LEAST_PEAK) & (here > scores[:, :-2]) & (here >= scores[:, 2:]))
    before, peak, after = (scores[frame, column + at].astype(np.float64) for at in (0, 1, 2))
    bend = np.minimum(before - 2 * peak + after, -1e-9)
    offset = np.clip(0.5 * (before - after) / bend, -0.5, 0.5)
    return frame, (_SHORTEST + column + offset) / _FINE, peak - 0.25 * (before - after) * offset


def _runs(frame: NDArray[np.intp], count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which of ``count`` frames have peaks, and where the peaks of each begin."""
    numbers = np.bincount(frame, minlength=count)
    which = np.flatnonzero(numbers)
    numbers = numbers[which]
    return which, np.cumsum(numbers) - numbers


def _best(frame: NDArray[np.intp], starts: NDArray[np.intp], merit: Floats) -> NDArray[np.intp]:
    """Return the peak of most merit of each frame that has peaks; the last of equal ones."""
    most = np.maximum.reduceat(merit, starts)
    ends = np.empty(len(starts), np.intp)
    ends[:-1], ends[-1] = starts[1:], len(merit)
    run = np.repeat(np.arange(len(starts)), ends - starts)
    best = np.empty(len(starts), np.intp)
    at = np.flatnonzero(merit == most[run])
    best[run[at]] = at
    return best


def _autocorrelation(low: Floats) -> tuple[Floats, NDArray[np.intp], int]:
    """Normalised autocorrelation (audible frames × lags from one below the shortest to one above the longest), which frames
    these are, and how many there are in all."""
    from scipy import fft

    count = len(low) // HOP + 1
    padded = np.zeros(len(low) + WINDOW + HOP, np.float32)
    padded[WINDOW // 2 : WINDOW // 2 + len(low)] = low
    window, shape = _window()
    frames = np.lib.stride_tricks.as_strided(padded, (count, WINDOW), (HOP * padded.itemsize, padded.itemsize))
    frames = frames - (np.add.reduce(frames, axis=1) / np.float32(WINDOW))[:, None]
    frames *= window
    power = np.einsum("ij,ij->i", frames, frames)
    audible = np.flatnonzero(power > QUIETEST * power.max(initial=0.0) + 1e-12)
    if len(audible) < count:
        frames = frames[audible]
    scores = np.empty((len(audible), len(shape)), np.float32)
    for start in range(0, len(audible), _TOGETHER):
        spectrum = fft.rfft(frames[start : start + _TOGETHER], _FFT, axis=1)
        energy = np.square(spectrum.real) + np.square(spectrum.imag)
        correlation = fft.irfft(energy, _FINE * _FFT, axis=1)
        np.divide(
            correlation[:, _SHORTEST - 1 : _LONGEST + 2],
            correlation[:, :1] * shape,
            out=scores[start : start + _TOGETHER],
        )
    return scores, audible, count


@cache
def _window() -> tuple[Floats, Floats]:
    """Return the window, and its own normalised autocorrelation at the lags looked at."""
    window = np.hanning(WINDOW + 2)[1:-1].astype(np.float32)
    correlation = np.correlate(window, window, mode="full")[WINDOW - 1 :]
    lags = np.arange(_SHORTEST - 1, _LONGEST + 2) / _FINE
    return window, np.interp(lags, np.arange(WINDOW), correlation / correlation[0]).astype(np.float32)


def _expected(octaves: Floats, middle: float) -> Floats:
    """Return what to expect of each frame: the median of those known (not infinite) about it, the speaker's where there are fewer than
    five."""
    width = 2 * _NEIGHBOURS + 1
    values = np.full(len(octaves) + 2 * _NEIGHBOURS, np.inf)
    values[_NEIGHBOURS:-_NEIGHBOURS] = octaves
    around = np.sort(np.lib.stride_tricks.sliding_window_view(values, width), axis=1)
    known = np.isfinite(around).sum(axis=1)
    median = around[np.arange(len(octaves)), np.maximum(known, 1) // 2]
    return np.where(known >= 5, median, middle)


def _joined(begin: NDArray[np.bool_], hold: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Runs of ``hold`` that hold a ``begin``, of three frames or more."""
    hold = hold | begin
    found = runs(hold)
    begun = np.concatenate(([0], np.cumsum(begin)))
    found = found[(found[:, 1] - found[:, 0] >= 3) & (begun[found[:, 1]] > begun[found[:, 0]])]
    edges = np.zeros(len(hold) + 1, np.int8)
    edges[found[:, 0]] = 1
    edges[found[:, 1]] = -1
    return np.cumsum(edges[:-1]).astype(bool)
