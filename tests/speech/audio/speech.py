"""Clips the tests of sound share: a sung vowel, and speech of an installed voice."""

from __future__ import annotations

from functools import cache

import numpy as np

from components.speech.audio.files import RATE_HZ


def vowel(seconds: float = 1.0, hertz: float = 150.0) -> np.ndarray:
    """Harmonics under two formants, as a voice gives them, with a slow rise and fall of the pitch."""
    time = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    phase = 2 * np.pi * np.cumsum(hertz * (1 + 0.03 * np.sin(2 * np.pi * 2 * time))) / RATE_HZ
    total = np.zeros(len(time))
    for number in range(1, int(4000 / hertz)):
        at = number * hertz
        total += np.sin(number * phase) * (np.exp(-(((at - 600) / 300) ** 2)) + 0.5 * np.exp(-(((at - 1500) / 400) ** 2)) + 0.05)
    return (0.2 * total / np.abs(total).max()).astype(np.float32)


def noise(seconds: float, level: float = 0.05, seed: int = 0) -> np.ndarray:
    """White noise."""
    return (level * np.random.default_rng(seed).standard_normal(int(seconds * RATE_HZ))).astype(np.float32)


@cache
def spoken(voice: str, text: str) -> np.ndarray:
    """What an installed voice says."""
    from components.speech.voices.speaking import speak

    return speak(text, voice)


def pitch_of(samples: np.ndarray) -> float:
    """Median F0 as Praat finds it."""
    import parselmouth

    result = parselmouth.Sound(samples.astype(float), RATE_HZ).to_pitch_ac(pitch_floor=65, pitch_ceiling=500)
    hertz = result.selected_array["frequency"]
    return float(np.median(hertz[hertz > 0]))
