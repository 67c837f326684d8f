"""Text in, the voice's own speech out: 16 kHz mono, every voice equally loud, engines loaded once a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.core.errors import HearsightError
from components.speech.audio.files import resample
from components.speech.audio.measures import is_silent
from components.speech.voices.catalogue import voice_named
from components.speech.voices.failures import SILENT, EngineDown, EngineFailure
from components.speech.voices.hosts import Failed, keeper

if TYPE_CHECKING:
    from components.speech.audio.files import Samples

_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")
"""No engine says them, and C ends a text at the first NUL."""


def speak(text: str, voice: str) -> Samples:
    """``text`` in the voice's own manner: float32, mono, 16 kHz; a function of the text and the voice's model alone.

    Levelled by the voice's constant gain, so that captions have a mean active level of -26 dBFS in every voice.

    Raises:
        EngineFailure: this text cannot be said by this voice: it hung (hang) or brought down (crash) the engine, twice;
            the engine refused it (error); or there is nothing to hear (silent). The voice can say others.
        HearsightError: there is no such voice, it is not installed or does not start, or it fails at every text.
    """
    who = voice_named(voice)
    try:
        own, rate = keeper(who.engine).say(who.speaker, text.translate(_CONTROLS))
    except Failed as failed:
        raise EngineFailure(voice, failed.reason, failed.detail) from None
    except EngineDown as down:
        raise HearsightError(
            f"the engine '{who.engine}' does not work: {down}",
            where=f"voice {voice}",
            hint=f"run `{who.install}`, or leave the voice out",
        ) from None
    samples = resample(own, rate) * 10.0 ** (who.level / 20.0)
    if is_silent(samples):
        raise EngineFailure(voice, SILENT, "nothing to hear")
    return samples
