"""Text to speech: 16 kHz mono, all voices equally loud, one engine host per process."""

from __future__ import annotations

from components.core.errors import HearsightError
from components.speech.audio.files import Samples, resample
from components.speech.audio.measures import is_silent
from components.speech.voices.catalogue import voice_named
from components.speech.voices.failures import SILENT, EngineDown, EngineFailure
from components.speech.voices.hosts import Failed, supervisor

_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")
"""Control characters to spaces: engines ignore them, and C strings end at the first NUL."""


def speak(text: str, voice: str) -> Samples:
    """Return ``text`` in the voice's default prosody: float32, mono, 16 kHz; a function of text and voice model.

    The voice's constant gain gives captions a mean active level of -26 dBFS in every voice.

    Raises:
        EngineFailure: the voice failed at this text: the engine timed out (hang) or crashed (crash) twice, raised an error
            (error), or the audio is silent (silent).
        HearsightError: no such voice, not installed, does not start, or fails at every text.
    """
    native, rate = speak_native(text, voice)
    samples = resample(native, rate) * 10.0 ** (voice_named(voice).level / 20.0)
    if is_silent(samples):
        raise EngineFailure(voice, SILENT, "nothing to hear")
    return samples


def speak_native(text: str, voice: str) -> tuple[Samples, int]:
    """Return ``text`` as the engine speaks it: float32 samples in -1..1 and their rate in Hz. Raises as :func:`speak`."""
    speaker = voice_named(voice)
    try:
        return supervisor(speaker.engine).say(speaker.speaker, text.translate(_CONTROLS))
    except Failed as failed:
        raise EngineFailure(voice, failed.reason, failed.detail) from None
    except EngineDown as down:
        raise HearsightError(
            f"the engine '{speaker.engine}' does not work: {down}",
            where=f"voice {voice}",
            hint=f"run `{speaker.install}`, or leave the voice out",
        ) from None
