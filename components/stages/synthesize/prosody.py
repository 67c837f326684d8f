"""Who says a caption, and how: the random choices of CSC, section 2.2."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from components.core.digests import digest_value
from components.core.seeded_rng import seeded_rng

DEVIATIONS = 2.0
"""A draw is never further from its mean than this many standard deviations; one that is gets moved to the edge."""
MEANS = {"rate": 1.0, "pitch": 0.0, "gain": 0.0}
"""Where each parameter's distribution has its middle."""
DECIMALS = 4
"""Values are rounded to these, so that what the record tells is exactly what was spoken."""


@dataclass(frozen=True)
class Prosody:
    """How one utterance is spoken."""

    voice: str
    rate: float
    """1 = the voice's own speed."""
    pitch: float
    """Semitones above the voice's own."""
    gain: float
    """dB."""


def manner_of(
    seed: int, record: str, number: int, *, voices: Sequence[str], rate_sd: float, pitch_sd: float, gain_sd: float
) -> Prosody:
    """The manner of utterance ``number`` of ``record``: a function of these alone, not of any order.

    Each parameter has a key of its own, so that none depends on the voices or on another's deviation. The voice is
    drawn afresh for each utterance as in the paper: with few utterances a caption may have all of them in one voice.
    """
    deviations = {"rate": rate_sd, "pitch": pitch_sd, "gain": gain_sd}
    values = {name: _clipped(seed, record, number, name, deviations[name]) for name in MEANS}
    return Prosody(voice_of(seed, record, number, voices), **values)


def voice_of(seed: int, record: str, number: int, voices: Sequence[str]) -> str:
    """One of ``voices``, uniformly: the one whose hash with this utterance is highest.

    So the order of the list is nothing, and a voice that is added or left out changes only the utterances that it
    says or said (rendezvous hashing, Thaler and Ravishankar 1998): one in seven when a seventh is added.
    """
    return max(sorted(voices), key=lambda voice: _hash(seed, record, number, voice))


def _hash(*parts: str | int) -> bytes:
    return hashlib.sha256("\x1f".join(str(part) for part in (*parts, "voice")).encode()).digest()


def _clipped(seed: int, record: str, number: int, name: str, sd: float) -> float:
    edge = DEVIATIONS * sd
    drawn = seeded_rng(seed, record, number, name).gauss(0.0, sd)
    return round(MEANS[name] + min(edge, max(-edge, drawn)), DECIMALS)


def distributions(*, voices: dict[str, list[str]], rate_sd: float, pitch_sd: float, gain_sd: float) -> dict[str, Any]:
    """What :func:`manner_of` draws from, as JSON: the check holds the records to it.

    Args:
        voices: language → the names drawn from.
        rate_sd, pitch_sd, gain_sd: standard deviations.
    """
    deviations = {"rate": rate_sd, "pitch": pitch_sd, "gain": gain_sd}
    return {
        "voices": {language: sorted(names) for language, names in sorted(voices.items())},
        "parameters": {
            name: {"mean": MEANS[name], "sd": sd, "clip": DEVIATIONS, "decimals": DECIMALS} for name, sd in deviations.items()
        },
    }


def utterance_digest(text: str, manner: Prosody) -> str:
    """The content key under which the audio of ``text`` in this manner is cached."""
    return digest_value({"text": text, **asdict(manner)})
