"""eSpeak NG 1.52 (GPL-3.0-or-later): many languages, formant synthesis. Loaded only in its host process.

Library and data come from the wheel of piper-tts, which exports eSpeak NG's functions (speak_lib.h) and links only to the C
library. Debian's libespeak-ng1 needs PulseAudio's libraries, which a small machine lacks.
"""

from __future__ import annotations

import ctypes
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.speech.voices.voice import EngineEntry, Voice

PACKAGE, LIBRARY, DATA = "piper", "espeakbridge.so", "espeak-ng-data"
"""The module of piper-tts, and the library and data in its folder."""
SEED = 1
"""Seed of the noise in a voice: eSpeak NG seeds its generator with the time of day."""
# Constants of speak_lib.h.
_SYNCHRONOUS, _DONT_EXIT, _BY_CHARACTER, _UTF8, _OK = 2, 0x8000, 1, 1, 0
_IPA, _TIED = 0x02, 0x80
TIE = "^"
"""What stands between the letters of one phoneme in :meth:`Espeak.phonemes`."""


def espeak_home() -> Path | None:
    """Return the folder with the library and its data, or None where piper-tts is not installed. Loads nothing."""
    spec = find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        if (Path(folder) / LIBRARY).is_file() and (Path(folder) / DATA).is_dir():
            return Path(folder)
    return None


def espeak_is_there() -> bool:
    """Return whether the library and its data are installed."""
    return espeak_home() is not None


class Espeak:
    """The library. A speaker is a language, optionally with ``+`` and a voice variant.

    Its oscillators keep their state from one text to the next.
    """

    keeps_state = True

    def __init__(self) -> None:
        home = espeak_home()
        if home is None:
            raise OSError(f"{LIBRARY} and {DATA} of piper-tts are not installed")
        self._espeak = ctypes.CDLL(str(home / LIBRARY))
        self._rate = int(self._espeak.espeak_Initialize(_SYNCHRONOUS, 0, str(home).encode(), _DONT_EXIT))
        if self._rate <= 0:
            raise OSError(f"espeak-ng refuses its data in {home / DATA}")
        self._blocks: list[bytes] = []

        @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
        def collect(samples: int | None, count: int, _events: int | None) -> int:
            if samples and count > 0:
                self._blocks.append(ctypes.string_at(samples, 2 * count))
            return 0

        self._callback = collect  # referenced here because the library holds only its address
        self._espeak.espeak_SetSynthCallback(self._callback)
        self._espeak.espeak_TextToPhonemes.restype = ctypes.c_char_p
        self._espeak.espeak_TextToPhonemes.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int]

    def phonemes(self, text: str, language: str) -> str:
        """Return the text in IPA, without its punctuation; the letters of one phoneme are tied by :data:`TIE`."""
        self._set_voice(language)
        left, clauses = ctypes.c_char_p(text.encode()), list[str]()
        while left.value is not None:  # the library moves it behind the clause that it reads, and to null at the end
            clauses.append(self._espeak.espeak_TextToPhonemes(ctypes.byref(left), _UTF8, _IPA | _TIED | ord(TIE) << 8).decode())
        return " ".join(clauses)

    def say(self, text: str, speaker: str) -> tuple[NDArray[Any], int]:
        """See :class:`~components.speech.voices.voice.Engine`."""
        self._set_voice(speaker)
        self._blocks.clear()
        self._espeak.espeak_ng_SetRandSeed(ctypes.c_long(SEED))
        raw = text.encode()
        if self._espeak.espeak_Synth(raw, len(raw) + 1, 0, _BY_CHARACTER, 0, _UTF8, None, None) != _OK:
            raise RuntimeError("espeak-ng refused the text")
        return np.frombuffer(b"".join(self._blocks), dtype="<i2"), self._rate

    def _set_voice(self, name: str) -> None:
        if self._espeak.espeak_SetVoiceByName(name.encode()) != _OK:
            raise ValueError(f"espeak-ng has no voice '{name}'")


def _voice(name: str, language: str, sex: str, speaker: str, level: float) -> Voice:
    model, install = f"piper-tts-1.8.0-espeak-ng-1.52.0-{speaker}", "pip install piper-tts==1.8.0"
    return Voice(f"espeak-{name}", "espeak", model, language, sex, "GPL-3.0-or-later", install, speaker, level, extra=True)


ENGINE = EngineEntry(
    Espeak,
    espeak_is_there,
    (
        _voice("en-us", "en", "M", "en-us", -5.6),
        _voice("pt-br", "pt", "M", "pt-br", -5.7),
        _voice("pt-br-f", "pt", "F", "pt-br+f2", -7.2),
        _voice("fr", "fr", "M", "fr", -4.5),
        _voice("fr-f", "fr", "F", "fr+f2", -5.9),
        _voice("es", "es", "M", "es", -5.1),
        _voice("es-f", "es", "F", "es+f2", -6.8),
    ),
)
