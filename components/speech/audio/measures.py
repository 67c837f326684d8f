"""Measures of a clip: level, peak, clipping, silence at its ends; and a test for silent clips.

Frames have 10 ms; the last one is padded with zeros. The level is a simple form of ITU-T P.56's active speech level: P.56
follows an envelope with a hangover of 200 ms and sets the threshold 15.9 dB below the resulting level; here a frame is active
within ``ACTIVE_DB`` of the loudest one, without hangover.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from components.speech.audio.files import RATE_HZ, Samples

FRAME = RATE_HZ // 100
"""Samples of a 10 ms frame."""
ACTIVE_DB = 35.0
"""A frame is active when its RMS is within this many dB of the loudest frame's."""
FAINT_DB = 50.0
"""dB below the loudest frame down to which frames adjoining active ones still count as speech."""
FAINT_FRAMES = 25
"""Maximum number of such frames at either end: a fricative is shorter than 250 ms, a longer sound is noise."""
QUIET_DB = -60.0
"""dB of full scale: a frame with a lower RMS is inaudible."""
HEARD_FRAMES = 3
"""A clip with fewer audible frames is silent: 30 ms is shorter than any word."""
LOWEST_DB = -120.0
"""Level and peak of digital silence, instead of minus infinity."""
_PROBED = 12
"""Frames on either side of a clip's middle that :func:`is_silent` tests first."""
_HUM = 80
"""Samples of the subtracted running mean: 5 ms, which removes 0 Hz and attenuates 50 Hz by 20 dB per pass."""


@dataclass(frozen=True)
class Measures:
    """The measures of one clip."""

    seconds: float
    level: float
    """dB of full scale (1.0): RMS over the active frames."""
    peak: float
    """dB of full scale: the largest sample."""
    clipped: int
    """Samples at full scale of 16 bits, 32767/32768, or beyond."""
    lead: float
    """Seconds before speech begins (see :func:`speech_frames`), a whole number of frames."""
    tail: float
    """Seconds after it ends."""


def measure(samples: Samples) -> Measures:
    """Return the measures of float32 mono samples at 16 kHz. Zeros count as lead, with level ``LOWEST_DB``."""
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
    """Return the mean square of each frame."""
    count = -(-len(samples) // FRAME)
    padded = np.zeros((count, FRAME))
    padded.reshape(-1)[: len(samples)] = samples
    return np.asarray(np.einsum("ij,ij->i", padded, padded) / FRAME)


def speech_frames(power: NDArray[np.float64]) -> tuple[int, int]:
    """Return the first frame of speech and the one after the last: the active frames and adjoining faint ones.

    Both equal the number of frames for digital silence.
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


def runs(flags: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return (runs, 2): the first index and the one after the last of each run of true values."""
    edges = np.zeros(len(flags) + 2, np.int8)
    edges[1:-1] = flags
    return np.flatnonzero(edges[1:] != edges[:-1]).reshape(-1, 2)


def hysteresis(begin: NDArray[np.bool_], hold: NDArray[np.bool_], least: int) -> NDArray[np.bool_]:
    """Return the frames in runs of ``hold`` of ``least`` frames or more that contain a ``begin``."""
    hold = hold | begin
    spans = runs(hold)
    begun = np.concatenate(([0], np.cumsum(begin)))
    spans = spans[(spans[:, 1] - spans[:, 0] >= least) & (begun[spans[:, 1]] > begun[spans[:, 0]])]
    edges = np.zeros(len(hold) + 1, np.int8)
    edges[spans[:, 0]] = 1
    edges[spans[:, 1]] = -1
    return np.cumsum(edges[:-1]).astype(bool)


def is_silent(samples: Samples) -> bool:
    """Return whether a clip is inaudible: no samples, too quiet, a constant, mains hum below 70 Hz up to -20 dB, or clicks.

    An engine that cannot speak a text may return any of these. Loud steady noise is not distinguished from speech.
    """
    if len(samples) == 0:
        return True
    # Nearly all clips are audible in the middle, which is cheaper to test than the whole clip.
    middle = len(samples) // FRAME // 2
    first, last = (middle - _PROBED) * FRAME, (middle + _PROBED) * FRAME
    # The running means reach 5 ms to either side, so one more frame gives the same values as the whole clip.
    probe = samples[first - FRAME : last + FRAME]
    if first >= FRAME and last + FRAME <= len(samples) and _audible_frames(probe, 1) >= HEARD_FRAMES:
        return False
    return _audible_frames(samples) < HEARD_FRAMES


def _audible_frames(samples: Samples, margin: int = 0) -> int:
    """Return the number of audible frames, without ``margin`` frames at either end."""
    power = frame_power(_without_hum(_without_hum(np.asarray(samples, np.float64))))
    return int(np.count_nonzero(power[margin : len(power) - margin] > 10.0 ** (QUIET_DB / 10.0)))


def _without_hum(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the samples minus their running mean over 5 ms; the ends are padded with the first and last sample."""
    half = _HUM // 2
    total = np.cumsum(np.concatenate((np.zeros(1), np.full(half, samples[0]), samples, np.full(half, samples[-1]))))
    return samples - (total[_HUM:] - total[:-_HUM])[: len(samples)] / _HUM


def _decibels(power: float) -> float:
    return max(LOWEST_DB, 10.0 * math.log10(power)) if power > 0.0 else LOWEST_DB
