"""Who says a caption, and how: the random choices of seed 003, section 2.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from random import Random

from components.core.digests import digest_value
from components.core.draws import draw

DEVIATIONS = 2.0
"""A draw is never further from its mean than this many standard deviations; one that is gets moved to the edge."""


@dataclass(frozen=True)
class Manner:
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
) -> Manner:
    """The manner of utterance ``number`` of ``record``: a function of these alone, not of any order.

    The voice is uniform over ``voices``, drawn afresh for each utterance as in the paper: with few utterances a
    caption may have all of them in one voice. Values are rounded to four decimals, so that what the record tells is
    exactly what was spoken.
    """
    source = draw(seed, record, number, "manner")
    voice = voices[source.randrange(len(voices))]
    rate, pitch, gain = (_clipped(source, mean, sd) for mean, sd in ((1.0, rate_sd), (0.0, pitch_sd), (0.0, gain_sd)))
    return Manner(voice, rate, pitch, gain)


def _clipped(source: Random, mean: float, sd: float) -> float:
    edge = DEVIATIONS * sd
    return round(mean + min(edge, max(-edge, source.gauss(0.0, sd))), 4)


def utterance_digest(text: str, manner: Manner) -> str:
    """The content key under which the audio of ``text`` in this manner is cached."""
    return digest_value({"text": text, **asdict(manner)})
