"""Pitch marks: one per voiced period, at a constant phase; every 5 ms in unvoiced stretches.

The marks of a voiced stretch lie where the phase of the fundamental passes a whole turn. The phase is measured after
demodulation by the tracked pitch, so small tracking errors do not matter; it is then shifted so that marks lie at the centre
of each period's energy, where overlap-add distorts least.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.speech.audio.files import RATE_HZ
from components.speech.audio.measures import runs
from components.speech.audio.pitch import DECIMATION, HOP, LOW_RATE_HZ, decimate, track_pitch

Floats = NDArray[np.floating]

UNVOICED_STEP = RATE_HZ // 200
"""Samples between marks in unvoiced stretches: 5 ms."""
EXTENDED = 1
"""Frames added at both ends of a voiced stretch: its first and last pulse lie in frames that are half noise."""
LEAST_STEP = 16.0
"""Minimum distance of marks in samples: 1 ms."""
STEADY = 0.3
"""Weight of the whole clip's energy centre, against at most 1 for the local one."""
SLOWEST, FASTEST = 0.75, 1.33
"""Bounds on a period relative to the tracked one."""
_GRID = 4
"""Low-rate samples between phase values: 1 ms."""
_SPREAD = 160
"""Low-rate samples over which a period's shape is averaged: 40 ms."""


def pitch_marks(samples: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the marks of 16 kHz samples as fractional positions from 0 to their number, and which steps are voiced."""
    low = decimate(samples)
    hertz = track_pitch(low)
    ends = runs(hertz > 0)
    parts: list[Floats] = [np.zeros(1)]
    voiced: list[NDArray[np.bool_]] = []
    if len(ends):
        for marks in _stretches(*_phase(samples, low, hertz), ends):
            marks = marks[(marks > parts[-1][-1] + LEAST_STEP) & (marks < len(samples) - LEAST_STEP)]
            if len(marks) < 3:
                continue
            between = _unvoiced_marks(parts[-1][-1], marks[0])
            parts += [between, marks]
            voiced += [np.zeros(len(between) + 1, bool), np.ones(len(marks) - 1, bool)]
    between = _unvoiced_marks(parts[-1][-1], float(len(samples)))
    parts += [between, np.array([float(len(samples))])]
    voiced.append(np.zeros(len(between) + 1, bool))
    return np.concatenate(parts), np.concatenate(voiced)


def _stretches(measured: Floats, phase: Floats, ends: NDArray[np.intp]) -> list[Floats]:
    """Return the marks of each voiced stretch: whole turns of the monotonic phase, aligned to the measured one in the middle."""
    first = np.maximum((ends[:, 0] - EXTENDED) * HOP // _GRID, 0)
    last = np.minimum((ends[:, 1] - 1 + EXTENDED) * HOP // _GRID, len(phase) - 1)
    middle = (first + last) // 2
    shift = measured[middle] - phase[middle]
    lowest, highest = np.ceil(phase[first] + shift), np.floor(phase[last] + shift)
    counts = np.maximum(highest - lowest + 1, 0).astype(np.intp)
    begins = np.cumsum(counts) - counts
    turns = np.arange(counts.sum()) + np.repeat(lowest - shift - begins, counts)
    marks = np.interp(turns, phase, np.arange(len(phase)) * float(_GRID * DECIMATION))
    return [marks[begin : begin + count] for begin, count in zip(begins, counts, strict=True)]


def _unvoiced_marks(start: float, stop: float) -> Floats:
    """Return marks strictly between two positions, about ``UNVOICED_STEP`` apart."""
    count = max(1, round((stop - start) / UNVOICED_STEP))
    return start + np.arange(1, count) * ((stop - start) / count)


def _phase(samples: Floats, low: Floats, hertz: Floats) -> tuple[Floats, Floats]:
    """Return the phase in turns at every ``_GRID``-th low-rate sample, whole at the centre of a period's energy.

    The first array is as measured, the second kept near the tracked speed, so that it is monotonic. Both are valid where
    ``hertz`` is not 0, up to a constant.
    """
    count = len(low)
    voiced = np.flatnonzero(hertz)
    smooth = _interpolated(np.interp(np.arange(len(hertz) + 1), voiced, hertz[voiced]), HOP)[:count]
    turned = np.cumsum(smooth) / LOW_RATE_HZ
    at = np.arange(0, count, _GRID)
    speed = smooth[at]
    period = LOW_RATE_HZ / speed

    # Averaging twice over one period removes all other harmonics and 0 Hz.
    once = _mean(low * _unit(turned), at, period)
    fundamental = _mean(once, np.arange(len(at)), period / _GRID)
    turns = turned[at] + _unwrap(fundamental)

    energy = _energy(samples)
    energy /= _interpolated(_mean(energy, at, 2 * period), _GRID)[:count] + 1e-12
    centre = _steady_mean(energy * _unit(_interpolated(turns, _GRID)[:count]), len(at))
    # Where a period has no clear energy centre (a murmur, a breath), that of the whole clip dominates.
    mean = centre[np.interp(at / HOP, np.arange(len(hertz)), hertz) > 0].mean()
    turns += _unwrap(centre + STEADY * mean / (abs(mean) + 1e-12))
    steps = speed * (_GRID / LOW_RATE_HZ)
    differences = np.zeros(len(turns))
    np.subtract(turns[1:], turns[:-1], out=differences[1:])
    return turns, np.cumsum(np.minimum(np.maximum(differences, SLOWEST * steps), FASTEST * steps))


def _interpolated(values: Floats, count: int) -> Floats:
    """Return the values interpolated linearly at ``count`` times the density; the last value is repeated."""
    dense = np.empty((len(values), count))
    dense[:] = values[:, None]
    dense[:-1] += (values[1:] - values[:-1])[:, None] * (np.arange(count) / count)
    return dense.reshape(-1)


def _unwrap(vectors: Any) -> Floats:
    """Return the vectors' unwrapped angles in turns."""
    angle = np.arctan2(vectors.imag, vectors.real) / (2 * np.pi)
    jumps = np.zeros(len(angle))
    np.rint(angle[1:] - angle[:-1], out=jumps[1:])
    return np.asarray(angle - np.cumsum(jumps))


def _unit(turns: Floats) -> Any:
    """Return unit vectors rotated by minus ``turns``."""
    angle = ((-2 * np.pi) * (turns - np.floor(turns))).astype(np.float32)
    vectors = np.empty(len(angle), np.complex64)
    vectors.real, vectors.imag = np.cos(angle), np.sin(angle)
    return vectors


def _energy(samples: Floats) -> Floats:
    """Return the energy of sample differences, in which pulses are sharper, per low-rate sample."""
    sharp = np.zeros(-(-len(samples) // DECIMATION) * DECIMATION, np.float32)
    np.subtract(samples[1:], samples[:-1], out=sharp[1 : len(samples)])
    sharp *= sharp
    return sharp[0::4].astype(np.float64) + sharp[1::4] + sharp[2::4] + sharp[3::4]


def _mean(values: Any, at: NDArray[np.intp], width: Floats) -> Any:
    """Return means of ``values`` over windows of ``width`` samples (fractional) centred on ``at``."""
    total = _totals(values)

    def sum_until(position: Floats) -> Any:
        position = np.minimum(np.maximum(position, 0.0), len(values))
        whole = position.astype(np.intp)
        before = total.take(whole)
        whole += 1
        step = total.take(whole, mode="clip")
        step -= before
        whole -= 1
        step *= position - whole
        step += before
        return step

    middle, half = at + 0.5, width / 2
    return (sum_until(middle + half) - sum_until(middle - half)) / width


def _steady_mean(values: Any, count: int) -> Any:
    """Return :func:`_mean` at ``count`` positions ``_GRID`` apart, over ``_SPREAD`` samples each."""
    total, half = _totals(values), _SPREAD // 2
    padded = np.empty(half + max(len(total), _GRID * count) + half + _GRID, total.dtype)
    padded[:half], padded[half : half + len(total)], padded[half + len(total) :] = total[0], total, total[-1]
    later, last = padded[_SPREAD::_GRID][:count], padded[_SPREAD + 1 :: _GRID][:count]
    sooner, first = padded[::_GRID][:count], padded[1::_GRID][:count]
    return ((later + last) - (sooner + first)) / (2 * _SPREAD)


def _totals(values: Any) -> Any:
    """Return the cumulative sums in double precision, from 0 to the sum of all values."""
    total = np.empty(len(values) + 1, np.complex128 if np.iscomplexobj(values) else np.float64)
    total[0] = 0.0
    np.cumsum(values, out=total[1:])
    return total
