"""Silence cut off both ends of a clip, so that at most ``KEPT`` of it is left there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from components.speech.audio.files import RATE_HZ
from components.speech.audio.measures import FAINT_DB, FRAME, frame_power, is_silent, runs, speech_frames

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from components.speech.audio.files import Samples

KEPT = 5
"""Frames of 10 ms left on either side of speech: 50 ms. ``measures`` may count more where a voice fades out slowly."""
FADE = RATE_HZ // 250
"""Samples of the fade at a cut: 4 ms, within what is left, so that there is no click."""
NOISE_FRAMES = 10
"""The background is the quietest steady stretch of this many frames: 100 ms."""
ABOVE_NOISE_DB, HELD_ABOVE_DB = 10.0, 4.0
"""In a recording with a background, speech begins this far above it, and goes on down to this far above it."""
NOISE_MOST_DB = 25.0
"""A quietest stretch within this many dB of the loudest frame is taken for speech without a pause, not for a background."""


def trim(samples: Samples) -> Samples:
    """Return the clip without the silence at its ends; empty when there is nothing to hear.

    Speech is what ``measures.speech_frames`` says: from the first frame within 35 dB of the loudest to the last, and the fainter
    sounds, down to 50 dB, that touch it. So a quiet fricative stays. Cuts lie between frames, 50 ms away, and are faded; a side
    with less silence than that is left as it is. In a recording whose background is louder than that, speech is
    what stands out of the background.
    """
    if is_silent(samples):
        return samples[:0]
    power = frame_power(samples)
    start, stop = speech_frames(_out_of_background(power))
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


def _out_of_background(power: NDArray[np.float64]) -> NDArray[np.float64]:
    """Powers of frames with those of a steady background taken for nothing."""
    if len(power) < 2 * NOISE_FRAMES:
        return power
    loudest, held_by = float(power.max()), 10.0 ** (HELD_ABOVE_DB / 10.0)
    # Where anything is this quiet there is no background as is asked for below.
    if power[:-1].min() <= loudest * 10.0 ** (-(FAINT_DB + HELD_ABOVE_DB) / 10.0):
        return power
    stretches = np.lib.stride_tricks.sliding_window_view(power, NOISE_FRAMES)
    means = stretches.mean(axis=1)
    steady = means[stretches.max(axis=1) <= held_by * means]
    background = float(steady.min(initial=np.inf))
    # A hiss is no background when anything is quieter than it, or when the clip does not begin and end with it.
    if not (
        loudest * 10.0 ** (-FAINT_DB / 10.0) < background < loudest * 10.0 ** (-NOISE_MOST_DB / 10.0)
        and power[:-1].min() * held_by >= background
        and max(power[0], power[-2]) <= held_by * background
    ):
        return power
    # A frame stands out where it is well above the background, or a little and beside one that is, without a break.
    clear = power > background * 10.0 ** (ABOVE_NOISE_DB / 10.0)
    held = power > held_by * background
    out = np.zeros(len(power))
    for start, stop in runs(held):
        if clear[start:stop].any():
            out[start:stop] = power[start:stop]
    return out
