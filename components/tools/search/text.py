"""A text as a query: spoken by a local voice and searched as speech, since no tower of the dual encoder reads text."""

from __future__ import annotations

from typing import NamedTuple

from components.core.errors import HearsightError
from components.retrieval.queries import Query, parse_query
from components.speech.voices.catalogue import VOICES, installed
from components.tools.describe.speech import default_voice, say

LONGEST = 300
"""Characters of a text; models hear some seconds only."""


class SpokenText(NamedTuple):
    """A text as a query, and the voice that spoke it."""

    query: Query
    voice: str


def speak_query(text: str, language: str = "", voice: str = "") -> SpokenText:
    """Return the speech of a text as a query.

    Args:
        language: of the text, ISO 639-1; the first local voice of it speaks. Not used with a voice.
        voice: one of ``hearsight voices``.

    Raises:
        HearsightError: the text is empty, too long or cannot be spoken, or no such voice is installed.
    """
    said = " ".join(text.split())
    if not said:
        raise HearsightError("is empty", where="the text", hint="write what is in the picture")
    if len(said) > LONGEST:
        raise HearsightError(f"has {len(said)} characters, more than {LONGEST}", where="the text", hint="shorten it")
    chosen = voice or default_voice(language)
    return SpokenText(parse_query(say(said, chosen).clip.flac, "the spoken text"), chosen)


def spoken_languages() -> list[str]:
    """Return the languages that a local voice here speaks, sorted."""
    return sorted({voice.language for voice in VOICES.values() if not voice.paid and installed(voice)})
