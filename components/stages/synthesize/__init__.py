"""synthesize: speak every caption of the split with drawn voices and prosody (CSC §2.2).

Input: SPLIT records. Output: UTTERANCE records with 16 kHz FLAC in the media shards, and ``draws.json``, the distributions.
The ledger has one row a record: a record without speech is dropped by ``no_voice`` (no voice speaks its language), by the rule
that its text breaks (``text_normalization``), or by ``engine``. Three steps: planning (text and prosody), speaking (into the
result cache, so nothing is spoken twice) and packing. Not in scope: human speech, recognition checks, noise.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from components.core.errors import HearsightError
from components.core.params import Amount, NotNegative, Positive, Settings
from components.speech.voices.catalogue import voice_named

DRAWS = "draws.json"
"""Output file with the distributions that were drawn from."""


class Params(Settings):
    """Settings of synthesize: voices, distributions and limits."""

    seed: int = 1
    """Seed of every draw. Ours."""
    utterances: Positive = 1
    """Utterances of each caption, at least 1. CSC §2.2: 1."""
    voices: list[str] = [
        *("hibari-heart", "nanotts-en-us", "nanotts-en-gb", "flite-slt", "flite-rms", "flite-kal16"),
        *("kokoro-pt-dora", "kokoro-pt-alex", "kokoro-es-dora", "kokoro-es-alex"),
    ]
    """Names of the voices; each caption gets voices of its language, drawn uniformly. CSC §2.2: 6 WaveNet voices of American
    English; ours: 6 that need no account, and 2 each for Portuguese and Spanish."""
    slow_utterances: NotNegative = 5000
    """Slow voices, which are Kokoro's, are left out of a language with more utterances. Ours: 5,000 take two hours of a core."""
    max_characters: Positive = 600
    """Captions with more characters, as spoken, are dropped by ``too_long``. Ours, some 40 s; CC table 3: captions have 10.3
    tokens (sd 4.5)."""
    rate_sd: Annotated[float, Field(ge=0, lt=0.5)] = 0.1
    """Standard deviation of the speaking rate around 1; all draws are clipped at 2 sd, so from .5 on a rate would be 0 or less.
    CSC §2.2: .1."""
    pitch_sd: Amount = 1.0
    """Standard deviation of the pitch shift around 0, in semitones. CSC §2.2: 1."""
    gain_sd: Amount = 2.0
    """Standard deviation of the gain around 0, in dB. CSC §2.2: 2."""
    google_shapes: bool = True
    """Whether Google applies the drawn rate, pitch and gain to its voices; otherwise they are applied here as for all others. CSC
    §2.2: true."""

    def check(self, where: str) -> None:
        """Require voices of the catalogue, each once, installed or not."""
        if not self.voices:
            raise HearsightError("is empty", where=f"{where}.voices", hint="name a voice")
        for name in self.voices:
            voice_named(name, f"{where}.voices")
        if repeated := sorted({name for name in self.voices if self.voices.count(name) > 1}):
            raise HearsightError(f"'{repeated[0]}' is named twice", where=f"{where}.voices", hint="name each voice once")
