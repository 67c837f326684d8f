"""The voices that speak on this system: those of the catalogue whose engine exists for it, and others in place of the rest.

Nothing changes on Linux, where every engine exists (docs/platforms.md). Apart from the catalogue, whose code is part of the
version of cached speech.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from components.speech.voices.catalogue import VOICES, Lack, lack_of, split_installed, voice_named
from components.speech.voices.voice import Voice

SYSTEMS = {"nanotts": ("linux",), "flite": ("linux",)}
"""Engine → the values of ``sys.platform`` for which its package or library is built; other engines: all."""
SUBSTITUTES: dict[str, str] = {
    "nanotts-en-us": "espeak-en-us",
    "nanotts-fr-fr": "espeak-fr-f",
    "nanotts-es-es": "espeak-es-f",
}
"""Voice of such an engine → the voice that takes its place where the engine does not exist. Voices without one are left out."""


def is_built(engine: str) -> bool:
    """Return whether the engine exists for this system, installed or not."""
    return sys.platform in SYSTEMS.get(engine, (sys.platform,))


def split_available(names: Sequence[str]) -> tuple[list[Voice], list[Voice]]:
    """Split the named voices into those to draw from and those left out: extras that are not installed, and what is not built.

    Another voice speaks in place of one whose engine does not exist for this system, if there is one.

    Raises:
        HearsightError: as :func:`components.speech.voices.catalogue.split_installed`.
    """
    lacking = [voice_named(name) for name in names if not is_built(voice_named(name).engine)]
    named = [name for name in names if name not in {voice.name for voice in lacking}]
    others = [SUBSTITUTES[voice.name] for voice in lacking if voice.name in SUBSTITUTES]
    there, absent = split_installed(list(dict.fromkeys([*named, *others])))
    return there, [*lacking, *absent]


def lack_here(voice: Voice) -> Lack | None:
    """Return why the voice cannot speak here, or None where it can; see :func:`components.speech.voices.catalogue.lack_of`."""
    if is_built(voice.engine):
        return lack_of(voice)
    other = SUBSTITUTES.get(voice.name)
    cure = f"{other} speaks in its place: run `{VOICES[other].install}`" if other else "name another: hearsight voices"
    return Lack(f"its engine does not exist for {sys.platform}", cure)
