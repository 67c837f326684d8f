"""librosa's MFCCs at our settings, and a table of them: ``python -m tests.support.models.mfcc_librosa`` writes it again."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from components.models.mfcc import RATE_HZ, MfccSettings
from tests.support import PROJECT

TABLE = PROJECT / "tests" / "models" / "data" / "mfcc_librosa.npz"
"""Coefficients × frames of each of :func:`cases`, in units of 1e-5, as librosa 0.11 gave them."""
DEFAULT = MfccSettings()
CHOICES = [
    DEFAULT,
    MfccSettings(mel="slaney"),
    MfccSettings(norm="slaney"),
    MfccSettings(mel="slaney", norm="slaney", fft=512),
    MfccSettings(fft=2048),
    MfccSettings(fft=2048, mel="slaney", norm="slaney"),
    MfccSettings(filters=40, coefficients=13, fft=512),
    MfccSettings(filters=80, coefficients=80, mel="slaney", norm="slaney"),
    MfccSettings(filters=40, coefficients=20, window=400, hop=160, fft=400, window_type="hann"),
    MfccSettings(window_type="rectangular", window=321, hop=100, fft=1000),
    MfccSettings(lowest=60.0, highest=7_600.0, fft=2048),
    MfccSettings(floor=1.0),
]
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


def theirs(samples: np.ndarray, chosen: MfccSettings) -> np.ndarray:
    """librosa at the settings ``chosen``, in the precision of ``samples``."""
    import librosa

    power = librosa.feature.melspectrogram(
        y=samples,
        sr=chosen.rate,
        n_fft=chosen.fft,
        hop_length=chosen.hop,
        win_length=chosen.window,
        window={"rectangular": "boxcar"}.get(chosen.window_type, chosen.window_type),
        center=True,
        pad_mode="constant",
        power=2.0,
        n_mels=chosen.filters,
        fmin=chosen.lowest,
        fmax=chosen.highest,
        htk=chosen.mel == "htk",
        norm=chosen.norm,
        dtype=samples.dtype,
    )
    decibel = librosa.power_to_db(power, ref=1.0, amin=chosen.floor, top_db=None)
    result: np.ndarray = librosa.feature.mfcc(S=decibel, n_mfcc=chosen.coefficients, dct_type=2, norm="ortho")
    return result


def recorded() -> dict[str, np.ndarray]:
    """The table: coefficients × frames, in double precision."""
    with np.load(TABLE) as table:
        return {name: table[name] * 1e-5 for name in table.files}


def cases() -> dict[str, tuple[np.ndarray, MfccSettings]]:
    """What the table holds: short clips by their length, then every choice of settings on a clip of a few frames."""
    ramp = np.linspace(0.1, 1.0, 1_100)
    mixed = (ramp * (clip("square", 1_100) * 0.4 + clip("tone", 1_100))).astype(np.float32).astype(np.float64)
    return {
        **{f"length {length}": (clip("tone", length + 7)[7:], DEFAULT) for length in SHORT},
        **{f"settings {number}": (mixed, one) for number, one in enumerate(CHOICES)},
    }


if __name__ == "__main__":
    np.savez_compressed(TABLE, **{name: np.round(theirs(*case) * 1e5).astype(np.int32) for name, case in cases().items()})
