"""The engines behind the voices: text in, the speaker's own speech out. Only a host makes one (``host``)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from components.speech.voices.engine_espeak import Espeak
from components.speech.voices.engine_flite import Flite
from components.speech.voices.engine_piper import Piper

if TYPE_CHECKING:
    from numpy.typing import NDArray

_M_PERTURB = -6


class Engine(Protocol):
    """What speaks."""

    carries_on: bool
    """Whether what was spoken before shows in what is spoken next, so that each text needs a fork of its own (``host``)."""

    def say(self, text: str, speaker: str) -> tuple[NDArray[Any], int]:
        """The spoken text, mono, int16 or float32 in -1..1, and its sampling rate in Hz; nothing when it cannot be said."""


class HibariHeart:
    """``hibari-tts``, the voice in the package: a woman, American English, 24 kHz, a neural model on one thread."""

    carries_on = False

    def __init__(self) -> None:
        from hibari import Hibari

        self._engine = Hibari(voice="heart", threads=1)

    def say(self, text: str, speaker: str) -> tuple[NDArray[Any], int]:
        """See :class:`Engine`. The engine's noise is seeded, so its answer is a function of the text."""
        return self._engine(text, seed=0), int(self._engine.sample_rate)


class NanoTts:
    """``py-nanotts`` (SVOX Pico): a woman, 16 kHz; a speaker is one of its languages, such as en-US."""

    carries_on = False
    VOLUME = 0.5
    """At its own volume the engine clips."""
    RATE_HZ = 16_000

    def __init__(self) -> None:
        from py_nanotts import NanoTTS

        self._engine = NanoTTS()

    def say(self, text: str, speaker: str) -> tuple[NDArray[Any], int]:
        """See :class:`Engine`. The engine reads memory it never wrote, so its memory is zeroed meanwhile."""
        import numpy as np

        # In pointed brackets it would take orders, such as to play a file.
        text = text.replace("<", " ").replace(">", " ")
        with _zeroed_memory():
            raw = self._engine.speak(text, voice=speaker, volume=self.VOLUME)
        return np.frombuffer(raw, dtype="<i2"), self.RATE_HZ


@contextmanager
def _zeroed_memory() -> Iterator[None]:
    """Have glibc hand out zeroed memory meanwhile, so that reading it unwritten gives one result, not any.

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


ENGINES: dict[str, Callable[[], Engine]] = {
    "hibari": HibariHeart,
    "nanotts": NanoTts,
    "flite": Flite,
    "piper": Piper,
    "espeak": Espeak,
}
"""By the name that the catalogue gives them."""
