"""What is measured of a clip: level, peak, clipping, and the silence at its ends; and whether there is anything to hear.

All is counted in whole frames of 10 ms from the first sample on, the last one filled up with zeros. The level is a simple form of
ITU-T P.56's active speech level: P.56 follows an envelope with a hangover of 200 ms and finds the threshold 15.9 dB below
the level it then gets; here a frame is active within ``ACTIVE_DB`` of the loudest one, with no hangover.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from components.speech.audio.files import RATE_HZ

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from components.speech.audio.files import Samples

FRAME = RATE_HZ // 100
"""Samples of the 10 ms frames that everything is counted in."""
ACTIVE_DB = 35.0
"""A frame is active when its RMS is within this many dB of the loudest frame's."""
FAINT_DB = 50.0
"""Speech goes on before its first and after its last active frame while frames are within this many dB of the loudest,"""
FAINT_FRAMES = 25
"""... but no further than this many frames: a fricative is shorter than 250 ms, and what is longer is noise."""
QUIET_DB = -60.0
"""dB of full scale: a frame with a lower RMS cannot be heard."""
HEARD_FRAMES = 3
"""A clip with fewer audible frames than this has nothing to hear: 30 ms is shorter than any word."""
LOWEST_DB = -120.0
"""What level and peak of nothing are called, in place of minus infinity."""
_LISTENED = 12
"""Frames on either side of the middle of a clip that are listened to first."""
_HUM = 80
"""Samples of the mean that is taken away before listening: 5 ms, so that 0 Hz goes, and 50 Hz by 20 dB each time."""


@dataclass(frozen=True)
class Measures:
    """One clip, in numbers."""

    seconds: float
    level: float
    """dB of full scale (1.0): RMS over the active frames."""
    peak: float
    """dB of full scale: the largest sample."""
    clipped: int
    """Samples at full scale of 16 bits, 32767/32768, or beyond."""
    lead: float
    """s before speech begins (see :func:`speech_frames`), a whole number of frames."""
    tail: float
    """s after it ends."""


def measure(samples: Samples) -> Measures:
    """Return the measures of float32 mono samples at 16 kHz. A clip of zeros is all lead, its level ``LOWEST_DB``."""
    samples = np.asarray(samples, np.float32)
    power = frame_power(samples)
    loudest = float(power.max(initial=0.0))
    active = power[power >= loudest * 10.0 ** (-ACTIVE_DB / 10.0)]
    size = np.abs(samples)
    start, stop = speech_frames(power)
    return Measures(
        seconds=len(samples) / RATE_HZ,
        level=_decibels(float(active.mean())) if loudest else LOWEST_DB,
        peak=_decibels(float(size.max(initial=0.0)) ** 2),
        clipped=int(np.count_nonzero(size >= 32767 / 32768)),
        lead=min(start * FRAME, len(samples)) / RATE_HZ,
        tail=max(0, len(samples) - stop * FRAME) / RATE_HZ,
    )


def frame_power(samples: NDArray[np.floating]) -> NDArray[np.float64]:
    """Mean square of each frame of 10 ms."""
    count = -(-len(samples) // FRAME)
    padded = np.zeros((count, FRAME))
    padded.reshape(-1)[: len(samples)] = samples
    return np.asarray(np.einsum("ij,ij->i", padded, padded) / FRAME)


def speech_frames(power: NDArray[np.float64]) -> tuple[int, int]:
    """Return the first frame of speech and the one after the last: active frames, and what is faint on either side without a break.

    Both are the number of frames when nothing sounds.
    """
    loudest = power.max(initial=0.0)
    if loudest <= 0.0:
        return len(power), len(power)
    active = np.flatnonzero(power >= loudest * 10.0 ** (-ACTIVE_DB / 10.0))
    faint = power >= loudest * 10.0 ** (-FAINT_DB / 10.0)
    first, last = int(active[0]), int(active[-1])
    before, after = ~faint[max(0, first - FAINT_FRAMES) : first][::-1], ~faint[last + 1 : last + 1 + FAINT_FRAMES]
    start = first - (int(before.argmax()) if before.any() else len(before))
    return start, last + 1 + (int(after.argmax()) if after.any() else len(after))


def runs(held: NDArray[np.bool_]) -> NDArray[np.intp]:
    """First and one after the last of each run of true."""
    edges = np.zeros(len(held) + 2, np.int8)
    edges[1:-1] = held
    return np.flatnonzero(edges[1:] != edges[:-1]).reshape(-1, 2)


def is_silent(samples: Samples) -> bool:
    """Return whether there is nothing to hear: no samples, too quiet, a constant, mains hum below 70 Hz up to -20 dB, or a click or two.

    What an engine answers that cannot speak a text may be any of these. A steady noise or tone that is loud enough is
    not told from speech here; that is what recognition is for.
    """
    if len(samples) == 0:
        return True
    # In nearly all clips something sounds in the middle, and the rest need not be listened to.
    middle = len(samples) // FRAME // 2
    first, last = (middle - _LISTENED) * FRAME, (middle + _LISTENED) * FRAME
    # A sample's two means reach 5 ms to either side: with a frame more there, these frames are as in the whole clip.
    if first >= FRAME and last + FRAME <= len(samples) and _heard(samples[first - FRAME : last + FRAME], 1) >= HEARD_FRAMES:
        return False
    return _heard(samples) < HEARD_FRAMES


def _heard(samples: Samples, less: int = 0) -> int:
    """Return how many frames are audible, ``less`` frames at either end not counted."""
    power = frame_power(_without_hum(_without_hum(np.asarray(samples, np.float64))))
    return int(np.count_nonzero(power[less : len(power) - less] > 10.0 ** (QUIET_DB / 10.0)))


def _without_hum(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the samples less their running mean over 5 ms; at the ends the first and the last sample go on."""
    half = _HUM // 2
    total = np.cumsum(np.concatenate((np.zeros(1), np.full(half, samples[0]), samples, np.full(half, samples[-1]))))
    return samples - (total[_HUM:] - total[:-_HUM])[: len(samples)] / _HUM


def _decibels(power: float) -> float:
    import math

    return max(LOWEST_DB, 10.0 * math.log10(power)) if power > 0.0 else LOWEST_DB
