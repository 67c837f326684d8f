"""Speech of single texts in a local voice: ``hearsight say``, captions that are read aloud, and texts as queries of a search.

A text is searched as speech, since no tower of the dual encoder reads text.
"""

from __future__ import annotations

from typing import NamedTuple

from components.core.errors import HearsightError
from components.search.queries import Query, parse_query
from components.speech.text_normalization import RejectedText, normalise_for_speech
from components.speech.voices.catalogue import split_installed, voice_named
from components.speech.voices.failures import SILENT
from components.stages.synthesize.prosody import Prosody
from components.stages.synthesize.speech import Clip, Speech, Unspoken, unpack
from components.tools.describe.voices import default_voice

LONGEST = 10_000
"""Characters of one text."""
LONGEST_QUERY = 300
"""Characters of a text to search with; models hear some seconds only."""


class Spoken(NamedTuple):
    """A text as it was said."""

    said: str
    """The normalised text."""
    voice: str
    clip: Clip
    """Its FLAC, 16 kHz mono, and measures."""


def say(text: str, voice: str, *, rate: float = 1.0, pitch: float = 0.0, gain: float = 0.0) -> Spoken:
    """Return the speech of a text like the stage synthesize: text normalisation, prosody, trimming, no clipping.

    Raises:
        HearsightError: the voice is not installed or paid, or the text cannot be said or heard.
    """
    _, absent = split_installed([voice])
    if absent:
        raise HearsightError(f"the voice '{voice}' is not installed", where="--voice", hint=f"run `{absent[0].install}`")
    if voice_named(voice).paid:
        raise HearsightError(f"'{voice}' is a paid voice, which only the stage uses", where="--voice", hint="take another voice")
    said = normalise_for_speech(text, voice_named(voice).language, max_characters=LONGEST)
    if isinstance(said, RejectedText):
        raise HearsightError(f"cannot be said ({said.rule}: {said.value})", where="say", hint="change the text")
    try:
        clip = unpack(Speech(voice).compute((said.text, Prosody(voice, rate, pitch, gain))))
    except Unspoken as failure:
        raise HearsightError(f"{voice} cannot say it: {failure.reason}", where="say", hint="take another voice") from None
    if clip is None:
        raise HearsightError(f"cannot be heard ({SILENT})", where="say", hint="raise --gain, or change the text")
    return Spoken(said.text, voice, clip)


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
        raise HearsightError("is empty", where="the text", hint="write what is in the image")
    if len(said) > LONGEST_QUERY:
        raise HearsightError(f"has {len(said)} characters, more than {LONGEST_QUERY}", where="the text", hint="shorten it")
    chosen = voice or default_voice(language)
    return SpokenText(parse_query(say(said, chosen).clip.flac, "the spoken text"), chosen)
