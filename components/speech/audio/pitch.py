"""Pitch tracking: one F0 value every 10 ms, 0 for unvoiced frames.

Autocorrelation divided by that of the window (Boersma 1993, eq. 9), on speech low-passed and decimated to 4 kHz, all frames
of a clip in batched FFTs. Instead of a path search, candidates are selected three times: by frame alone, near the speaker's
median, and near the median of neighbouring voiced frames. This suffices for one speaker per clip.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from components.speech.audio.files import RATE_HZ
from components.speech.audio.measures import hysteresis

Floats = NDArray[np.floating]

DECIMATION = 4
LOW_RATE_HZ = RATE_HZ // DECIMATION
"""Sampling rate of the decimated signal."""
FLOOR_HZ, CEILING_HZ = 65.0, 500.0
"""Range of F0: speech of men, women and children."""
HOP = LOW_RATE_HZ // 100
"""Low-rate samples between two frames: 10 ms."""
WINDOW = 184
"""Low-rate samples of a frame: three periods of the floor, 46 ms."""
_FFT, _FINE = 256, 2
"""Samples of the transform, and the factor by which the autocorrelation is interpolated."""
_BATCH = 128
"""Frames per transform: as many as fit the processor's cache."""
_SHORTEST, _LONGEST = int(_FINE * LOW_RATE_HZ / CEILING_HZ), int(_FINE * LOW_RATE_HZ / FLOOR_HZ) + 1
"""Range of lags, in steps of 1/``_FINE`` low-rate sample."""
VOICED, STILL_VOICED = 0.5, 0.4
"""Normalised autocorrelation at which voicing begins, and above which it continues."""
QUIETEST = 10.0 ** (-40.0 / 10.0)
"""A frame below this share of the loudest frame's power is unvoiced."""
LEAST_PEAK = 0.25
"""Peaks below this are ignored."""
_OCTAVE_COST = 0.02
"""Cost per octave of period, in units of autocorrelation: a double period correlates as well as the true one."""
_DISTANCE_COST = 0.3
"""Cost per octave of distance from the expected pitch."""
_NEIGHBOURS = 15
"""Frames on either side that determine the expected pitch."""


def decimate(samples: Floats) -> Floats:
    """Return 16 kHz samples at 4 kHz; sample i lies at 16 kHz sample 4 i (triangular filter of 7 taps, zeros at 4 and 8 kHz)."""
    count = -(-len(samples) // DECIMATION)
    padded = np.zeros((count + 2, DECIMATION), np.float32)
    padded.reshape(-1)[3 : 3 + len(samples)] = samples
    # Tap j of sample i is padded[4 i + j]: three symmetric pairs and the middle.
    taps = [padded[j // DECIMATION : j // DECIMATION + count, j % DECIMATION] for j in range(7)]
    low = (taps[0] + taps[6]) + 2 * (taps[1] + taps[5]) + 3 * (taps[2] + taps[4]) + 4 * taps[3]
    low *= np.float32(1 / 16)
    return np.asarray(low)


def track_pitch(low: Floats) -> Floats:
    """Return F0 in Hz of frames centred on every ``HOP``-th sample of ``low`` (4 kHz, see :func:`decimate`); 0 = unvoiced."""
    scores, audible, count = _autocorrelation(low)
    frame, lag, height = _peaks(scores)
    octaves = -np.log2(lag)
    merit = height + _OCTAVE_COST * octaves
    hertz = np.zeros(count)
    if not len(frame):
        return hertz

    # From here on frames are numbered among the audible ones, except where neighbours count.
    which, starts = _runs(frame, len(audible))
    best = _best(frame, starts, merit)
    confident = height[best] > VOICED
    if not confident.any():
        return hertz
    median = float(np.median(octaves[best[confident]]))
    best = _best(frame, starts, merit - _DISTANCE_COST * np.maximum(np.abs(octaves - median) - 0.5, 0.0))
    estimates = np.full(count, np.inf)
    confident = height[best] > VOICED
    estimates[audible[which[confident]]] = octaves[best[confident]]
    expected = _expected(estimates, median)
    best = _best(frame, starts, merit - _DISTANCE_COST * np.abs(octaves - expected[audible[frame]]))
    strength = np.zeros(count)
    strength[audible[which]], hertz[audible[which]] = height[best], LOW_RATE_HZ / lag[best]
    hertz[~hysteresis(strength > VOICED, strength > STILL_VOICED, 3)] = 0.0
    return hertz


def _peaks(scores: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return the peaks above ``LEAST_PEAK``: frames in ascending order, lags in low-rate samples, heights.

    Lags and heights are those of the parabola through a peak and its neighbours.
    """
    here = scores[:, 1:-1]
    frame, column = np.nonzero((here > LEAST_PEAK) & (here > scores[:, :-2]) & (here >= scores[:, 2:]))
    before, peak, after = (scores[frame, column + at].astype(np.float64) for at in (0, 1, 2))
    bend = np.minimum(before - 2 * peak + after, -1e-9)
    offset = np.clip(0.5 * (before - after) / bend, -0.5, 0.5)
    return frame, (_SHORTEST + column + offset) / _FINE, peak - 0.25 * (before - after) * offset


def _runs(frame: NDArray[np.intp], count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which of ``count`` frames have peaks, and the index of each one's first peak."""
    numbers = np.bincount(frame, minlength=count)
    which = np.flatnonzero(numbers)
    numbers = numbers[which]
    return which, np.cumsum(numbers) - numbers


def _best(frame: NDArray[np.intp], starts: NDArray[np.intp], merit: Floats) -> NDArray[np.intp]:
    """Return the index of the peak of highest merit of each frame that has peaks; of equal ones the last."""
    most = np.maximum.reduceat(merit, starts)
    ends = np.empty(len(starts), np.intp)
    ends[:-1], ends[-1] = starts[1:], len(merit)
    run = np.repeat(np.arange(len(starts)), ends - starts)
    best = np.empty(len(starts), np.intp)
    at = np.flatnonzero(merit == most[run])
    best[run[at]] = at
    return best


def _autocorrelation(low: Floats) -> tuple[Floats, NDArray[np.intp], int]:
    """Return the normalised autocorrelation, the audible frames' numbers, and the number of all frames.

    The autocorrelation has shape (audible frames, lags from one below the shortest to one above the longest).
    """
    # Imported on use: scipy is slow to load.
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
    for start in range(0, len(audible), _BATCH):
        spectrum = fft.rfft(frames[start : start + _BATCH], _FFT, axis=1)
        energy = np.square(spectrum.real) + np.square(spectrum.imag)
        correlation = fft.irfft(energy, _FINE * _FFT, axis=1)
        np.divide(
            correlation[:, _SHORTEST - 1 : _LONGEST + 2],
            correlation[:, :1] * shape,
            out=scores[start : start + _BATCH],
        )
    return scores, audible, count


@cache
def _window() -> tuple[Floats, Floats]:
    """Return the window and its normalised autocorrelation at the lags in use."""
    window = np.hanning(WINDOW + 2)[1:-1].astype(np.float32)
    correlation = np.correlate(window, window, mode="full")[WINDOW - 1 :]
    lags = np.arange(_SHORTEST - 1, _LONGEST + 2) / _FINE
    return window, np.interp(lags, np.arange(WINDOW), correlation / correlation[0]).astype(np.float32)


def _expected(octaves: Floats, default: float) -> Floats:
    """Return the expected pitch of each frame: the median of known (finite) neighbours, ``default`` for fewer than five."""
    width = 2 * _NEIGHBOURS + 1
    values = np.full(len(octaves) + 2 * _NEIGHBOURS, np.inf)
    values[_NEIGHBOURS:-_NEIGHBOURS] = octaves
    around = np.sort(np.lib.stride_tricks.sliding_window_view(values, width), axis=1)
    known = np.isfinite(around).sum(axis=1)
    median = around[np.arange(len(octaves)), np.maximum(known, 1) // 2]
    return np.where(known >= 5, median, default)
