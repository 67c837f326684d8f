"""Trims silence at both ends of a clip to at most ``KEPT`` frames."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from components.speech.audio.files import RATE_HZ, Samples
from components.speech.audio.measures import FAINT_DB, FRAME, frame_power, hysteresis, is_silent, speech_frames

KEPT = 5
"""Frames of 10 ms kept on either side of speech: 50 ms. ``measures`` may count more where a voice fades slowly."""
FADE = RATE_HZ // 250
"""Samples of the fade at a cut: 4 ms, inside the kept silence, against clicks."""
NOISE_FRAMES = 10
"""The background noise is the quietest steady stretch of this many frames: 100 ms."""
ABOVE_NOISE_DB, HELD_ABOVE_DB = 10.0, 4.0
"""Over background noise, speech begins this far above it, and continues down to this far above it."""
NOISE_MOST_DB = 25.0
"""A quietest stretch within this many dB of the loudest frame is speech without a pause, not background."""


def trim_silence(samples: Samples) -> Samples:
    """Return the clip without silence at its ends; empty for a silent clip.

    Speech is defined by ``measures.speech_frames``: from the first to the last frame within 35 dB of the loudest, extended over
    adjoining frames within 50 dB, so that quiet fricatives stay. Cuts lie 50 ms outside and are faded; a side with less
    silence is unchanged. In a recording with louder background noise, speech is what exceeds the noise.
    """
    if is_silent(samples):
        return samples[:0]
    power = frame_power(samples)
    start, stop = speech_frames(_without_background(power))
    first, last = max(0, start - KEPT) * FRAME, min(len(samples), (stop + KEPT) * FRAME)
    if first == 0 and last == len(samples):
        return samples
    cut = np.array(samples[first:last], np.float32)
    rise = (np.sin(np.pi / 2 * (np.arange(FADE) + 0.5) / FADE) ** 2).astype(np.float32)
    if first > 0:
        cut[:FADE] *= rise
    if last < len(samples):
        cut[-FADE:] *= rise[::-1]
    return cut


def _without_background(power: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the frames' power with frames of steady background noise set to 0."""
    if len(power) < 2 * NOISE_FRAMES:
        return power
    loudest, held_by = float(power.max()), 10.0 ** (HELD_ABOVE_DB / 10.0)
    # Quick exit: with a frame this quiet the conditions below cannot hold.
    if power[:-1].min() <= loudest * 10.0 ** (-(FAINT_DB + HELD_ABOVE_DB) / 10.0):
        return power
    stretches = np.lib.stride_tricks.sliding_window_view(power, NOISE_FRAMES)
    means = stretches.mean(axis=1)
    steady = means[stretches.max(axis=1) <= held_by * means]
    background = float(steady.min(initial=np.inf))
    # Background noise is the quietest sound of the clip, and the clip begins and ends with it.
    if not (
        loudest * 10.0 ** (-FAINT_DB / 10.0) < background < loudest * 10.0 ** (-NOISE_MOST_DB / 10.0)
        and power[:-1].min() * held_by >= background
        and max(power[0], power[-2]) <= held_by * background
    ):
        return power
    clear = power > background * 10.0 ** (ABOVE_NOISE_DB / 10.0)
    return np.where(hysteresis(clear, power > held_by * background, 1), power, 0.0)
