"""Pitch marks: one place a period of the voice, always at the same phase of it; every 5 ms where there is no voice.

The marks of a voiced stretch are where its phase passes a whole turn. The phase is that of the fundamental, read from the
signal with the tracked pitch taken out, so a track that is a little off costs nothing; it is then turned so that the marks
lie in the middle of each period's energy, where an overlap-add window does least harm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from components.speech.audio.files import RATE_HZ
from components.speech.audio.measures import runs
from components.speech.audio.pitch import DECIMATION, HOP, LOW_RATE_HZ, decimated, track

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]

UNVOICED_STEP = RATE_HZ // 200
"""Samples between marks where the voice does not sound: 5 ms."""
EXTENDED = 1
"""Frames that a voiced stretch goes on at both ends: its first and last pulse lie in frames that are half noise."""
LEAST_STEP = 16.0
"""Samples that marks are apart at least: 1 ms."""
STEADY = 0.3
"""Weight of the whole clip in where the energy of a period lies, beside up to 1 of the place itself."""
SLOWEST, FASTEST = 0.75, 1.33
"""How far a period may be from what was tracked."""
_GRID = 4
"""Low-rate samples between the places where phase is read: 1 ms."""
_SPREAD = 160
"""Low-rate samples over which a period's shape is averaged: 40 ms."""


def pitch_marks(samples: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Marks of 16 kHz samples, as places with fractions, from 0 to their number; and which steps between them are voiced."""
    low = decimated(samples)
    hertz = track(low)
    ends = runs(hertz > 0)
    parts: list[Floats] = [np.zeros(1)]
    voiced: list[NDArray[np.bool_]] = []
    if len(ends):
        for marks in _stretches(*_phase(samples, low, hertz), ends):
            marks = marks[(marks > parts[-1][-1] + LEAST_STEP) & (marks < len(samples) - LEAST_STEP)]
            if len(marks) < 3:
                continue
            between = _between(parts[-1][-1], marks[0])
            parts += [between, marks]
            voiced += [np.zeros(len(between) + 1, bool), np.ones(len(marks) - 1, bool)]
    between = _between(parts[-1][-1], float(len(samples)))
    parts += [between, np.array([float(len(samples))])]
    voiced.append(np.zeros(len(between) + 1, bool))
    return np.concatenate(parts), np.concatenate(voiced)


def _stretches(told: Floats, phase: Floats, ends: NDArray[np.intp]) -> list[Floats]:
    """Return the marks of each voiced stretch: where its phase, which rises everywhere and is right in its middle, is whole."""
    first = np.maximum((ends[:, 0] - EXTENDED) * HOP // _GRID, 0)
    last = np.minimum((ends[:, 1] - 1 + EXTENDED) * HOP // _GRID, len(phase) - 1)
    middle = (first + last) // 2
    lifted = told[middle] - phase[middle]
    lowest, highest = np.ceil(phase[first] + lifted), np.floor(phase[last] + lifted)
    counts = np.maximum(highest - lowest + 1, 0).astype(np.intp)
    begins = np.cumsum(counts) - counts
    whole = np.arange(counts.sum()) + np.repeat(lowest - lifted - begins, counts)
    marks = np.interp(whole, phase, np.arange(len(phase)) * float(_GRID * DECIMATION))
    return [marks[begin : begin + count] for begin, count in zip(begins, counts, strict=True)]


def _between(start: float, stop: float) -> Floats:
    """Marks strictly between two, about ``UNVOICED_STEP`` apart."""
    count = max(1, round((stop - start) / UNVOICED_STEP))
    return start + np.arange(1, count) * ((stop - start) / count)


def _phase(samples: Floats, low: Floats, hertz: Floats) -> tuple[Floats, Floats]:
    """Turns of the voice at every ``_GRID``-th low-rate sample, whole in the middle of a period's energy: as read, and the same
    held near the tracked speed, so that it rises everywhere. They mean something where ``hertz`` is not 0, up to a constant."""
    count = len(low)
    sounding = np.flatnonzero(hertz)
    smooth = _between_all(np.interp(np.arange(len(hertz) + 1), sounding, hertz[sounding]), HOP)[:count]
    turned = np.cumsum(smooth) / LOW_RATE_HZ
    at = np.arange(0, count, _GRID)
    speed = smooth[at]
    period = LOW_RATE_HZ / speed

    # A mean over one period, twice, has its zeros at all other harmonics and at 0 Hz.
    once = _mean(low * _unit(turned), at, period)
    fundamental = _mean(once, np.arange(len(at)), period / _GRID)
    turns = turned[at] + _unwound(fundamental)

    energy = _energy(samples)
    energy /= _between_all(_mean(energy, at, 2 * period), _GRID)[:count] + 1e-12
    centre = _steady_mean(energy * _unit(_between_all(turns, _GRID)[:count]), len(at))
    # Where a period has no middle (a murmur, a breath) that of the whole clip counts.
    mean = centre[np.interp(at / HOP, np.arange(len(hertz)), hertz) > 0].mean()
    turns += _unwound(centre + STEADY * mean / (abs(mean) + 1e-12))
    steps = speed * (_GRID / LOW_RATE_HZ)
    went = np.zeros(len(turns))
    np.subtract(turns[1:], turns[:-1], out=went[1:])
    return turns, np.cumsum(np.minimum(np.maximum(went, SLOWEST * steps), FASTEST * steps))


def _between_all(values: Floats, count: int) -> Floats:
    """Values ``count`` times as dense, on the straight lines between them; after the last, its own."""
    dense = np.empty((len(values), count))
    dense[:] = values[:, None]
    dense[:-1] += (values[1:] - values[:-1])[:, None] * (np.arange(count) / count)
    return dense.reshape(-1)


def _unwound(vectors: Any) -> Floats:
    """Their angles in turns, each within half a turn of the one before."""
    angle = np.arctan2(vectors.imag, vectors.real) / (2 * np.pi)
    jumps = np.zeros(len(angle))
    np.rint(angle[1:] - angle[:-1], out=jumps[1:])
    return np.asarray(angle - np.cumsum(jumps))


def _unit(turns: Floats) -> Any:
    """Vectors of length 1, turned back by ``turns``."""
    angle = ((-2 * np.pi) * (turns - np.floor(turns))).astype(np.float32)
    vectors = np.empty(len(angle), np.complex64)
    vectors.real, vectors.imag = np.cos(angle), np.sin(angle)
    return vectors


def _energy(samples: Floats) -> Floats:
    """Energy of the differences of samples, which tell pulses better, in each low-rate sample."""
    sharp = np.zeros(-(-len(samples) // DECIMATION) * DECIMATION, np.float32)
    np.subtract(samples[1:], samples[:-1], out=sharp[1 : len(samples)])
    sharp *= sharp
    return sharp[0::4].astype(np.float64) + sharp[1::4] + sharp[2::4] + sharp[3::4]


def _mean(values: Any, at: NDArray[np.intp], width: Floats) -> Any:
    """Means of ``values`` over windows of ``width`` samples (fractions count) centred on ``at``."""
    total = _totals(values)

    def until(place: Floats) -> Any:
        place = np.minimum(np.maximum(place, 0.0), len(values))
        whole = place.astype(np.intp)
        before = total.take(whole)
        whole += 1
        step = total.take(whole, mode="clip")
        step -= before
        whole -= 1
        step *= place - whole
        step += before
        return step

    middle, half = at + 0.5, width / 2
    return (until(middle + half) - until(middle - half)) / width


def _steady_mean(values: Any, count: int) -> Any:
    """As :func:`_mean` at ``count`` places ``_GRID`` apart, over ``_SPREAD`` samples each: what is half-way is half of both."""
    total, half = _totals(values), _SPREAD // 2
    padded = np.empty(half + max(len(total), _GRID * count) + half + _GRID, total.dtype)
    padded[:half], padded[half : half + len(total)], padded[half + len(total) :] = total[0], total, total[-1]
    later, last = padded[_SPREAD::_GRID][:count], padded[_SPREAD + 1 :: _GRID][:count]
    sooner, first = padded[::_GRID][:count], padded[1::_GRID][:count]
    return ((later + last) - (sooner + first)) / (2 * _SPREAD)


def _totals(values: Any) -> Any:
    """Return the sum of all values before each, in double precision, and of all."""
    total = np.empty(len(values) + 1, np.complex128 if np.iscomplexobj(values) else np.float64)
    total[0] = 0.0
    np.cumsum(values, out=total[1:])
    return total
