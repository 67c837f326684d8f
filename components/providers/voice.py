"""Voices: text in, 16 kHz mono speech out; the same bytes for the same words, whatever was spoken before.

In scope: the small :class:`Voice` interface, the two embedded American English voices, and one way for all voices to
change rate, pitch and gain. Not in scope: which voice says what (the synthesize stage draws that), cloud services
(they implement :class:`Voice` beside these).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Protocol

from components.core.errors import HearsightError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

RATE_HZ = 16_000
"""The sampling rate of everything that leaves this module (seed 003, section 2.2)."""
PITCH_FLOOR_HZ, PITCH_CEILING_HZ = 75.0, 600.0
"""Where the pitch of a voice is looked for: speech of women, men and children."""
QUIET = 1e-3
"""A clip whose largest sample stays below this (-60 dB of full scale) counts as silence."""
PRAAT_SEED = 5489
_M_PERTURB = -6


class Voice(Protocol):
    """One speaker."""

    model: str
    """The engine's package and version: results are cached under it."""

    def say(self, text: str) -> tuple[Samples, int]:
        """The spoken text, mono in -1..1, and its sampling rate in Hz; an empty array when it cannot be said."""


class HibariHeart:
    """``hibari-tts``, the voice in the package: a woman, American English, 24 kHz, a neural model on one thread."""

    model = "hibari-tts-0.2.1"

    def __init__(self) -> None:
        from hibari import Hibari

        self._engine = Hibari(voice="heart", threads=1)

    def say(self, text: str) -> tuple[Samples, int]:
        """See :class:`Voice`. The engine's noise is seeded, so its answer is a function of the text."""
        return self._engine(text, seed=0), int(self._engine.sample_rate)


class NanoTts:
    """``py-nanotts`` (SVOX Pico), en-US: a woman, American English, 16 kHz."""

    model = "py-nanotts-0.1.1"
    VOLUME = 0.5
    """At its own volume the engine clips; half of it leaves the headroom that the gain needs."""

    def __init__(self) -> None:
        from py_nanotts import NanoTTS

        self._engine = NanoTTS()

    def say(self, text: str) -> tuple[Samples, int]:
        """See :class:`Voice`. The engine reads memory it never wrote, so its memory is zeroed meanwhile."""
        import numpy as np

        with _zeroed_memory():
            raw = self._engine.speak(text, voice="en-US", volume=self.VOLUME)
        return np.frombuffer(raw, dtype="<i2").astype(np.float32) / 32768.0, RATE_HZ


VOICES: dict[str, Callable[[], Voice]] = {"hibari-heart": HibariHeart, "nanotts-en-us": NanoTts}
"""The embedded voices by the name that ``params.yaml`` uses."""


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


def voice_model(name: str) -> str:
    """The package and version behind a voice, without loading it; raises HearsightError for an unknown name."""
    return str(_known(name).model)  # type: ignore[attr-defined]


def _known(name: str) -> Callable[[], Voice]:
    if name not in VOICES:
        raise HearsightError(f"'{name}' is not a voice", where="voices", mend=f"take some of: {', '.join(sorted(VOICES))}")
    return VOICES[name]


@cache
def _loaded(name: str) -> Voice:
    return _known(name)()


def speak(text: str, voice: str) -> Samples:
    """``text`` in the voice's own manner: float32, mono, 16 kHz, -1..1; empty when the engine gives nothing.

    Raises:
        HearsightError: there is no such voice.
    """
    import numpy as np
    import soxr

    samples, rate = _loaded(voice).say(text)
    if rate != RATE_HZ and len(samples):
        samples = soxr.resample(samples, rate, RATE_HZ, quality="HQ")
    return np.ascontiguousarray(samples, dtype=np.float32)


def shape(samples: Samples, *, rate: float, pitch: float, gain: float) -> Samples:
    """Speech said faster, higher and louder.

    Args:
        samples: float32 mono at 16 kHz.
        rate: 2.0 is twice as fast, 1.0 the voice's own.
        pitch: semitones up.
        gain: dB, applied last; what then exceeds full scale is clipped to it (no limiter, so the gain of every
            other sample is exactly the one asked for).

    Rate and pitch are changed together by Praat's PSOLA, the same for every voice. A clip too short for pitch
    analysis (under three periods of the floor, 40 ms) is returned with the gain alone.
    """
    import numpy as np
    import parselmouth
    from parselmouth.praat import call, run

    if len(samples) / RATE_HZ > 3.0 / PITCH_FLOOR_HZ:
        # Praat places the periods of voiceless stretches at random, from a clock unless it is told where to start.
        run(f"random_initializeWithSeedUnsafelyButPredictably ({PRAAT_SEED})")
        sound = parselmouth.Sound(samples.astype(np.float64), sampling_frequency=RATE_HZ)
        manipulation = call(sound, "To Manipulation", 0.01, PITCH_FLOOR_HZ, PITCH_CEILING_HZ)
        tier = call(manipulation, "Extract pitch tier")
        call(tier, "Multiply frequencies", sound.xmin, sound.xmax, 2.0 ** (pitch / 12.0))
        call([tier, manipulation], "Replace pitch tier")
        duration = call("Create DurationTier", "rate", sound.xmin, sound.xmax)
        call(duration, "Add point", (sound.xmin + sound.xmax) / 2, 1.0 / rate)
        call([duration, manipulation], "Replace duration tier")
        samples = call(manipulation, "Get resynthesis (overlap-add)").values[0]
    return np.clip(samples * 10.0 ** (gain / 20.0), -1.0, 1.0).astype(np.float32)


def is_silent(samples: Samples) -> bool:
    """Whether there is nothing to hear."""
    import numpy as np

    return len(samples) == 0 or float(np.abs(samples).max()) < QUIET
