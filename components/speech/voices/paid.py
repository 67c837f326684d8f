"""How a stage has paid voices speak: who is asked, what is wished for, and what came of it.

A stage draws a voice and a manner as for any voice. With ``shaped_there`` the service is asked for that manner, as the paper
did; without, for the voice's own, which the stage then shapes like every other voice's: then a manner drawn anew, or a second
utterance in the same voice, costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.speech.voices.google import WAVENET, google_name
from components.speech.voices.google_speech import GoogleSpeech, Shape, Wish, raw_key

if TYPE_CHECKING:
    from components.speech.audio.files import Samples

SILENCE = "nothing to hear in Google's answer"


def plan_for(root: Path, voices: Sequence[str]) -> dict[str, Any]:
    """How Google is asked, as JSON to be shared with workers; empty when no voice is paid.

    Raises:
        HearsightError: one is, and ``params.yaml:google`` does not fit.
    """
    from components.google.settings import google_params

    return {"asking": google_params(root).asking.plain()} if any(voice in WAVENET for voice in voices) else {}


def google_speech(plan: Mapping[str, Any], work: Path) -> GoogleSpeech:
    """Return the annotator that asks; nothing is looked for or asked yet.

    Args:
        plan: of :func:`plan_for`, not empty.
        work: the stage's scratch, where what is asked is counted (``google_cost.counted`` reads it there).
    """
    from components.google.client import GoogleClient
    from components.google.settings import USAGE, Asking

    return GoogleSpeech(GoogleClient(Asking(**plan["asking"]), work / USAGE))


def wish(text: str, voice: str, *, rate: float, pitch: float, gain: float, shaped_there: bool) -> Wish:
    """Return what is asked of Google for a text drawn for one of our voices in that manner."""
    return Wish(text, google_name(voice), Shape(rate, pitch, gain) if shaped_there else None)


def keys_of(utterance: Mapping[str, Any]) -> set[str]:
    """Return where answers of the service may be kept for a record of UTTERANCE, whichever way it was asked; none for other voices."""
    voice, spoken = utterance.get("voice"), utterance.get("spoken")
    if voice not in WAVENET or not spoken:
        return set()
    # The record has single precision; what was drawn, and asked for, has four decimals.
    manner = {name: round(float(utterance[name]), 4) for name in ("rate", "pitch", "gain")}
    return {raw_key(wish(spoken, voice, **manner, shaped_there=there)) for there in (False, True)}


@dataclass(frozen=True)
class Heard:
    """What came of a wish."""

    samples: Samples
    """float32, mono, 16 kHz, -1..1; empty when there is nothing to hear."""
    refusal: str
    """Why there is nothing; empty when there is something."""


def heard(stored: bytes) -> Heard:
    """Return what :class:`GoogleSpeech` stored, read."""
    import json

    import numpy as np

    from components.google.method import refusal_reason
    from components.speech.audio.files import from_flac
    from components.speech.audio.measures import is_silent

    nothing = np.zeros(0, np.float32)
    if stored.startswith(b"{"):
        return Heard(nothing, refusal_reason(json.loads(stored)))
    samples = from_flac(stored) if stored else nothing
    return Heard(nothing, SILENCE) if is_silent(samples) else Heard(samples, "")
