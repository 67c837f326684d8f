"""CMU Flite 2.2, American English: slt (F) and rms (M) by statistical synthesis, kal16 (M) by diphones."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.speech.voices.libraries import find_library, load_library, require_library
from components.speech.voices.voice import EngineEntry, Voice

PACKAGE = "libflite1"
SPEAKERS = ("kal16", "rms", "slt")
SEED = 1
"""Seed of C's ``rand``, from which slt and rms draw voiceless sounds."""
_SO = "so.2.2"
SOUND = ("libasound2", "libasound.so.2")
"""Flite links to it for playback, which is not used."""


def flite_is_there() -> bool:
    """Return whether Flite's libraries and the one they link to are available."""
    names = ("libflite", *(f"libflite_cmu_us_{voice}" for voice in SPEAKERS))
    return all(find_library(PACKAGE, f"{name}.{_SO}") for name in names) and find_library(*SOUND) is not None


class _Wave(ctypes.Structure):
    """``cst_wave`` of flite's cst_wave.h."""

    _fields_ = (
        ("type", ctypes.c_char_p),
        ("sample_rate", ctypes.c_int),
        ("num_samples", ctypes.c_int),
        ("num_channels", ctypes.c_int),
        ("samples", ctypes.POINTER(ctypes.c_short)),
    )


class Flite:
    """The library with its three voices registered."""

    keeps_state = False

    def __init__(self) -> None:
        require_library(*SOUND)
        self._flite = load_library(PACKAGE, f"libflite.{_SO}")
        for part in ("cmulex", "usenglish"):
            load_library(PACKAGE, f"libflite_{part}.{_SO}")
        self._flite.flite_text_to_wave.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
        self._flite.flite_text_to_wave.restype = ctypes.POINTER(_Wave)
        self._flite.delete_wave.argtypes = [ctypes.POINTER(_Wave)]
        self._flite.flite_init()
        self._libc = ctypes.CDLL(None)
        self._voices = {name: self._registered(name) for name in SPEAKERS}

    @staticmethod
    def _registered(name: str) -> int:
        register = getattr(load_library(PACKAGE, f"libflite_cmu_us_{name}.{_SO}"), f"register_cmu_us_{name}")
        register.argtypes, register.restype = [ctypes.c_char_p], ctypes.c_void_p
        return int(register(None))

    def say(self, text: str, speaker: str) -> tuple[NDArray[Any], int]:
        """See :class:`~components.speech.voices.voice.Engine`."""
        self._libc.srand(SEED)
        wave = self._flite.flite_text_to_wave(text.encode(), self._voices[speaker])
        if not wave:
            raise RuntimeError("flite returned no wave")
        try:
            count, rate = wave.contents.num_samples, wave.contents.sample_rate
            samples = np.ctypeslib.as_array(wave.contents.samples, (count,)).copy() if count else np.zeros(0, np.int16)
        finally:
            self._flite.delete_wave(wave)
        return samples, rate


def _voice(speaker: str, sex: str, level: float) -> Voice:
    model, install = f"flite-2.2-{speaker}", "hearsight data --voices"
    return Voice(f"flite-{speaker}", "flite", model, "en", sex, "MIT-Festival", install, speaker, level)


ENGINE = EngineEntry(Flite, flite_is_there, (_voice("slt", "F", -11.7), _voice("rms", "M", -5.7), _voice("kal16", "M", 1.4)))
