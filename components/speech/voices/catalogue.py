"""All voices by name, and whether each can speak on this machine, or why not and what installs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from components.core.errors import HearsightError
from components.core.params import did_you_mean
from components.speech.voices import google
from components.speech.voices.engines import ENGINES
from components.speech.voices.voice import Voice

VOICES: dict[str, Voice] = {
    voice.name: voice
    for voice in (
        *(voice for engine in ENGINES.values() for voice in engine.voices),
        *(
            Voice(
                name, google.ENGINE, f"texttospeech-v1-{speaker}", "en", sex, google.LICENCE, google.INSTALL, speaker, paid=True
            )
            for name, (speaker, sex) in google.WAVENET.items()
        ),
    )
}
"""By name."""


def voice_named(name: str, where: str = "voices") -> Voice:
    """Return the voice of that name; raise HearsightError when there is none."""
    if name not in VOICES:
        raise HearsightError(f"'{name}' is not a voice", where=where, hint=did_you_mean(name, sorted(VOICES)))
    return VOICES[name]


def installed(voice: Voice) -> bool:
    """Return whether what it needs is on this machine; for a paid voice: whether there are credentials."""
    return google.lack(voice.name) is None if voice.paid else ENGINES[voice.engine].is_installed()


def split_installed(names: Sequence[str]) -> tuple[list[Voice], list[Voice]]:
    """Split the named voices into those to draw from and the extras that are not installed.

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


class Lack(NamedTuple):
    """Why a voice cannot speak here."""

    why: str
    cure: str
    """What to do about it."""


def lack_of(voice: Voice) -> Lack | None:
    """Return why the voice cannot speak here, or None where it can; of a paid one: why there are no credentials.

    Never raises, loads no engine and asks no service.
    """
    install = f"run `{voice.install}`"
    try:
        if voice.paid:
            refusal = google.lack(voice.name)
            return Lack(refusal.what, refusal.hint) if refusal else None
        return None if installed(voice) else Lack("not installed", install)
    except Exception as error:  # a half-removed package fails in its own way, e.g. find_spec by ValueError
        return Lack(f"{type(error).__name__}: {' '.join(str(error).split())}", install)
