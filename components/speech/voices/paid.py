"""Speech from paid voices for stages: requests, cache keys, and reading of stored answers.

With ``shaped_there`` the service applies the drawn prosody (CSC §2.2). Otherwise it returns the voice's default prosody, which
the stage changes as for other voices; another prosody, or a second utterance in the same voice, then costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from components.google.client import GoogleClient
from components.google.method import refusal_reason
from components.google.settings import USAGE, RequestSettings, google_params
from components.speech.audio.files import Samples, from_flac
from components.speech.audio.measures import is_silent
from components.speech.voices.google import WAVENET, google_name
from components.speech.voices.google_speech import GoogleSpeech, RequestedProsody, SpeechRequest, answer_key

SILENCE = "nothing to hear in Google's answer"  # stored in ledgers


def plan_for(root: Path, voices: Sequence[str]) -> dict[str, Any]:
    """Return the request settings as JSON for workers; empty when no voice is paid.

    Raises:
        HearsightError: a voice is paid and ``params.yaml:google`` is invalid.
    """
    return {"asking": google_params(root).asking.plain()} if any(voice in WAVENET for voice in voices) else {}


def google_speech(plan: Mapping[str, Any], work: Path) -> GoogleSpeech:
    """Return the annotator. Needs no credentials yet and sends no request.

    Args:
        plan: from :func:`plan_for`, not empty.
        work: the stage's scratch folder, for usage counts (``google.cost.record_usage``).
    """
    return GoogleSpeech(GoogleClient(RequestSettings(**plan["asking"]), work / USAGE))


def speech_request(text: str, voice: str, *, rate: float, pitch: float, gain: float, shaped_there: bool) -> SpeechRequest:
    """Return the request for a text, a voice of the catalogue and a drawn prosody."""
    return SpeechRequest(text, google_name(voice), RequestedProsody(rate, pitch, gain) if shaped_there else None)


def cache_keys(utterance: Mapping[str, Any]) -> set[str]:
    """Return the cache keys that a record of UTTERANCE may have, with either way of shaping; none for unpaid voices."""
    voice, spoken = utterance.get("voice"), utterance.get("spoken")
    if voice not in WAVENET or not spoken:
        return set()
    # The record has single precision; the drawn and requested values have four decimals.
    prosody = {name: round(float(utterance[name]), 4) for name in ("rate", "pitch", "gain")}
    return {answer_key(speech_request(spoken, voice, **prosody, shaped_there=shaped)) for shaped in (False, True)}


@dataclass(frozen=True)
class PaidSpeech:
    """The content of a stored answer."""

    samples: Samples
    """float32, mono, 16 kHz, -1..1; empty for silence and refusals."""
    refusal: str
    """Why there is no speech; empty when there is."""


def read_answer(stored: bytes) -> PaidSpeech:
    """Return the content of an answer that :class:`GoogleSpeech` stored."""
    empty = np.zeros(0, np.float32)
    if stored.startswith(b"{"):
        return PaidSpeech(empty, refusal_reason(json.loads(stored)))
    samples = from_flac(stored) if stored else empty
    return PaidSpeech(empty, SILENCE) if is_silent(samples) else PaidSpeech(samples, "")
