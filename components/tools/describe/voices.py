"""What was measured of the voices, and which of them reads aloud.

``data/voices.json`` is written by ``python -m benchmarks.voices --recognise COUNT --record``.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import NamedTuple

from components.core.errors import HearsightError
from components.speech.voices.catalogue import VOICES, installed
from components.speech.voices.voice import Voice

FILE = Path(__file__).parent / "data/voices.json"


class Measured(NamedTuple):
    """Figures of one voice."""

    seconds: float
    """CPU time of an utterance."""
    word_errors: float
    """Wrong words of a recogniser over spoken words (``components.metrics.word_errors``)."""
    words: int
    """How many were spoken."""


MEASURED: dict[str, Measured] = {
    name: Measured(**figures) for name, figures in json.loads(FILE.read_text(encoding="utf-8")).items()
}
"""By voice."""


def default_voice(language: str) -> str:
    """Return the best understood of the installed voices of a language that cost nothing.

    Raises:
        HearsightError: none is installed; it names the command that installs the best.
    """
    voices = _best_first(language)
    for voice in voices:
        if installed(voice):
            return voice.name
    hint = f"run `{voices[0].install}`" if voices else "see `hearsight voices`"
    raise HearsightError(f"no local voice for '{language}' is installed", where="--speak", hint=hint)


def better_voice(language: str) -> str:
    """Return a line that names a better understood voice than the installed ones and its command, or ''."""
    best, spoken = _best_first(language)[0], default_voice(language)
    if best.name == spoken:
        return ""
    rates = " against ".join(f"{MEASURED[name].word_errors:.0%} of words" for name in (best.name, spoken) if name in MEASURED)
    return f"{best.name} is understood better than {spoken} (wrong: {rates}): run `{best.install}`"


def _best_first(language: str) -> list[Voice]:
    """Return the free voices of a language, those not measured last."""
    voices = [voice for voice in VOICES.values() if voice.language == language and not voice.paid]
    return sorted(voices, key=lambda voice: MEASURED[voice.name].word_errors if voice.name in MEASURED else math.inf)


def spoken_languages() -> list[str]:
    """Return the languages that a local voice here speaks, sorted."""
    return sorted({voice.language for voice in VOICES.values() if not voice.paid and installed(voice)})
