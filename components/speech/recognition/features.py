"""Whisper's input features: log-mel frames of 25 ms every 10 ms, 30 s at a time (Radford et al. 2022, §2.2)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from components.speech.audio.files import RATE_HZ, Samples

WINDOW, HOP, BANDS = 400, 160, 80
"""Samples per frame, samples between frames, mel bands."""
FRAMES = 3000
"""Frames per input of the network: 30 s."""
SEARCHED = 5 * RATE_HZ
"""Samples at the end of 30 s in which a cut is searched."""


def log_mel(samples: Samples) -> NDArray[np.float32]:
    """Return up to 30 s of samples as (80, 3000) float32, padded with zeros after the last sample, as Whisper does."""
    # One more frame, so that the last samples lie in the middle of one; the mirrored ends need half a window.
    padded = np.pad(np.pad(samples.astype(np.float32), (0, max(HOP, WINDOW - len(samples)))), WINDOW // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][:-1]
    window = np.hanning(WINDOW + 1)[:-1].astype(np.float32)
    power = np.abs(np.fft.rfft(frames * window, axis=1)).astype(np.float32) ** 2
    mel = np.log10(np.maximum(_filters() @ power.T, 1e-10))
    mel = ((np.maximum(mel, mel.max() - 8.0) + 4.0) / 4.0)[:, :FRAMES]
    return np.ascontiguousarray(np.pad(mel, ((0, 0), (0, FRAMES - mel.shape[1]))), dtype=np.float32)


def split_recording(samples: Samples) -> Iterator[Samples]:
    """Yield pieces of at most 30 s, each cut in the quietest 100 ms of its last 5 s."""
    limit, pause = FRAMES * HOP, RATE_HZ // 10
    while len(samples) > limit:
        tail = np.square(samples[limit - SEARCHED : limit].astype(np.float64)).reshape(-1, pause).sum(axis=1)
        cut = limit - SEARCHED + int(tail.argmin()) * pause + pause // 2
        yield samples[:cut]
        samples = samples[cut:]
    yield samples


@cache
def _filters() -> NDArray[np.float32]:
    """Return Slaney's mel filters, (80, 201): triangles of equal area, linear below 1 kHz and logarithmic above."""
    step, knee, growth = 200.0 / 3.0, 1000.0, np.log(6.4) / 27.0
    top = knee / step + np.log(RATE_HZ / 2 / knee) / growth
    mels = np.linspace(0.0, top, BANDS + 2)
    edges = np.where(mels < knee / step, mels * step, knee * np.exp(growth * (mels - knee / step)))
    bins = np.fft.rfftfreq(WINDOW, 1.0 / RATE_HZ)
    rising = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    height = 2.0 / (edges[2:] - edges[:-2])
    return (np.clip(np.minimum(rising, falling), 0.0, None) * height[:, None]).astype(np.float32)
