"""py-nanotts 0.1.1 (SVOX Pico, Apache-2.0): F in several languages, 16 kHz."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.speech.voices.voice import EngineEntry, Voice

_M_PERTURB = -6


class NanoTts:
    """``py-nanotts`` (SVOX Pico): a woman, 16 kHz; a speaker is one of its languages, such as en-US."""

    keeps_state = False
    VOLUME = 0.5
    """Volume at which the engine does not clip, unlike its default."""
    RATE_HZ = 16_000

    def __init__(self) -> None:
        # Here: an engine that is not installed must not stop the others.
        from py_nanotts import NanoTTS

        self._engine = NanoTTS()

    def say(self, text: str, speaker: str) -> tuple[NDArray[Any], int]:
        """See :class:`~components.speech.voices.voice.Engine`. The engine reads memory it never wrote, so memory is zeroed."""
        # Text in angle brackets would be run as commands, such as playing a file.
        text = text.replace("<", " ").replace(">", " ")
        with _zeroed_memory():
            raw = self._engine.speak(text, voice=speaker, volume=self.VOLUME)
        return np.frombuffer(raw, dtype="<i2"), self.RATE_HZ


@contextmanager
def _zeroed_memory() -> Iterator[None]:
    """Make glibc return zeroed memory inside the block, so that reads of uninitialised memory are deterministic.

    Without it the same sentence came out differently after other sentences had been spoken. A C library without
    ``mallopt`` (not glibc) is left as it is.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        yield
        return
    mallopt(_M_PERTURB, 0xFF)  # Fills with the complement of the byte: zeros.
    try:
        yield
    finally:
        mallopt(_M_PERTURB, 0)


def _voice(name: str, language: str, speaker: str, level: float) -> Voice:
    return Voice(f"nanotts-{name}", "nanotts", "py-nanotts-0.1.1", language, "F", "Apache-2.0", speaker=speaker, level=level)


ENGINE = EngineEntry(
    NanoTts,
    lambda: find_spec("py_nanotts") is not None,
    (
        _voice("en-us", "en", "en-US", -9.7),
        _voice("en-gb", "en", "en-GB", -10.2),
        _voice("fr-fr", "fr", "fr-FR", -9.8),
        _voice("es-es", "es", "es-ES", -11.4),
    ),
)
