"""librosa's MFCCs at our settings, and a table of them: ``python -m tests.support.models.mfcc_librosa`` writes it again."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from components.models.mfcc import COEFFICIENTS, FFT, FLOOR, HOP, RATE_HZ, WINDOW
from tests.support import PROJECT

TABLE = PROJECT / "tests" / "models" / "data" / "mfcc_librosa.npz"
"""Coefficients × frames of each of :func:`cases`, in units of 1e-5, as librosa 0.11 gave them."""
KINDS = ("speech", "noise", "faint noise", "silence", "click", "tone", "square", "offset")
"""Of :func:`clip`."""
SHORT = (1, 2, 159, 160, 161, 319, 320, 1023, 1025)


@cache
def speech() -> np.ndarray:
    """Three seconds of a voice, at the 16 bits of a file."""
    from py_nanotts import NanoTTS

    raw = NanoTTS().speak("A child in a red coat feeds the ducks by the old stone bridge.", voice="en-US", volume=0.5)
    return np.frombuffer(raw, dtype="<i2").astype(np.float64) / 32768.0


def clip(kind: str, length: int) -> np.ndarray:
    """A clip as float32 holds it, in double precision."""
    time = np.arange(length) / RATE_HZ
    made: Any = {
        "speech": lambda: np.resize(speech(), length),
        "noise": lambda: 0.3 * np.random.default_rng(0).standard_normal(length),
        "faint noise": lambda: 1e-5 * np.random.default_rng(1).standard_normal(length),
        "silence": lambda: np.zeros(length),
        "click": lambda: np.where(np.arange(length) == length // 2, 1.0, 0.0),
        "tone": lambda: 0.5 * np.sin(2 * np.pi * 440.0 * time),
        "square": lambda: np.sign(np.sin(2 * np.pi * 97.0 * time)),
        "offset": lambda: np.full(length, 0.9),
    }[kind]()
    return np.asarray(made, dtype=np.float32).astype(np.float64)


def theirs(samples: np.ndarray) -> np.ndarray:
    """librosa's coefficients at our settings, in the precision of ``samples``."""
    import librosa

    power = librosa.feature.melspectrogram(
        y=samples,
        sr=RATE_HZ,
        n_fft=FFT,
        hop_length=HOP,
        win_length=WINDOW,
        window="hamming",
        center=True,
        pad_mode="constant",
        power=2.0,
        n_mels=COEFFICIENTS,
        htk=True,
        norm=None,
        dtype=samples.dtype,
    )
    decibel = librosa.power_to_db(power, ref=1.0, amin=FLOOR, top_db=None)
    result: np.ndarray = librosa.feature.mfcc(S=decibel, n_mfcc=COEFFICIENTS, dct_type=2, norm="ortho")
    return result


def recorded() -> dict[str, np.ndarray]:
    """The table: coefficients × frames, in double precision."""
    with np.load(TABLE) as table:
        return {name: table[name] * 1e-5 for name in table.files}


def cases() -> dict[str, np.ndarray]:
    """What the table holds: short clips by their length, and a clip of a few frames."""
    ramp = np.linspace(0.1, 1.0, 1_100)
    mixed = (ramp * (clip("square", 1_100) * 0.4 + clip("tone", 1_100))).astype(np.float32).astype(np.float64)
    return {**{f"length {length}": clip("tone", length + 7)[7:] for length in SHORT}, "mixed": mixed}


if __name__ == "__main__":
    np.savez_compressed(TABLE, **{name: np.round(theirs(samples) * 1e5).astype(np.int32) for name, samples in cases().items()})
