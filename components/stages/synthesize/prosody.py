"""Random voice, rate, pitch and gain of an utterance (CSC §2.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from components.core.digests import digest_value
from components.core.seeded_rng import seeded_rng

DEVIATIONS = 2.0
"""Standard deviations at which draws are clipped to the edge."""
MEANS = {"rate": 1.0, "pitch": 0.0, "gain": 0.0}
"""Mean of each parameter's distribution."""
DECIMALS = 4
"""Decimals of the values, so that records hold exactly what was spoken."""


@dataclass(frozen=True)
class Prosody:
    """Voice and prosody of one utterance."""

    voice: str
    rate: float
    """Factor; 1 is the voice's own speed."""
    pitch: float
    """Shift of the voice's own pitch, in semitones."""
    gain: float
    """dB"""


def draw_prosody(
    seed: int, record: str, number: int, *, voices: Sequence[str], rate_sd: float, pitch_sd: float, gain_sd: float
) -> Prosody:
    """Return the prosody of utterance ``number`` of ``record``: a function of the arguments alone.

    Each parameter has its own key, so none depends on the voices or on another's deviation. The voice is drawn for each utterance
    as in the paper, so a caption's utterances may share one voice.
    """
    deviations = {"rate": rate_sd, "pitch": pitch_sd, "gain": gain_sd}
    values = {name: _clipped(seed, record, number, name, deviations[name]) for name in MEANS}
    return Prosody(draw_voice(seed, record, number, voices), **values)


def draw_voice(seed: int, record: str, number: int, voices: Sequence[str]) -> str:
    """Return one of ``voices``, uniformly: the one whose hash with this utterance is highest.

    The order of the list does not matter, and an added or removed voice changes only its own utterances (rendezvous hashing,
    Thaler and Ravishankar 1998): one in seven when a seventh is added.
    """
    return max(sorted(voices), key=lambda voice: _hash(seed, record, number, voice))


def _hash(*parts: str | int) -> bytes:
    return hashlib.sha256("\x1f".join(str(part) for part in (*parts, "voice")).encode()).digest()


def _clipped(seed: int, record: str, number: int, name: str, sd: float) -> float:
    edge = DEVIATIONS * sd
    drawn = seeded_rng(seed, record, number, name).gauss(0.0, sd)
    return round(MEANS[name] + min(edge, max(-edge, drawn)), DECIMALS)


def distributions(*, voices: dict[str, list[str]], rate_sd: float, pitch_sd: float, gain_sd: float) -> dict[str, Any]:
    """Return the distributions of :func:`draw_prosody` as JSON; the check compares the records with them.

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


def utterance_digest(text: str, prosody: Prosody) -> str:
    """Return the content key of the audio of ``text`` with this prosody."""
    return digest_value({"text": text, **asdict(prosody)})
