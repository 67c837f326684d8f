"""The expensive part of synthesis: one text spoken once, shaped, measured and packed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from components.speech.audio.files import to_flac, to_int16
from components.speech.audio.measures import Measures, measure
from components.speech.audio.shaping import change_prosody, fit_peak
from components.speech.audio.trim import trim_silence
from components.speech.voices.catalogue import voice_named
from components.speech.voices.failures import SILENT, EngineFailure
from components.speech.voices.speaking import speak
from components.stages.synthesize.prosody import Prosody, utterance_digest

if TYPE_CHECKING:
    from components.speech.audio.files import Samples

    Say = Callable[[str, Prosody], Samples]


class Unspoken(Exception):
    """An engine failed on one utterance, for a reason that may be gone at the next try (hang, crash, error)."""

    def __init__(self, digest: str, reason: str) -> None:
        self.digest, self.reason = digest, reason
        super().__init__(digest, reason)


@dataclass(frozen=True)
class Clip:
    """One utterance as it is kept: the FLAC file, and what was measured of it."""

    measures: Measures
    turned: float
    """dB by which it was turned down beside the gain that was drawn, so that nothing is clipped; 0 for nearly all."""
    flac: bytes

    def pack(self) -> bytes:
        """One line of JSON, then the FLAC: whoever needs the measures decodes no sound."""
        return json.dumps({"measures": asdict(self.measures), "turned": self.turned}, sort_keys=True).encode() + b"\n" + self.flac


def unpack(kept: bytes) -> Clip | None:
    """What :meth:`Speech.compute` gave: a clip, or None for what cannot be heard."""
    if not kept:
        return None
    line, _, flac = kept.partition(b"\n")
    told = json.loads(line)
    return Clip(Measures(**told["measures"]), told["turned"], flac)


class Speech:
    """Annotator: (text, manner) → a packed :class:`Clip`, 16 kHz mono 16 bit; no bytes at all when nothing can be heard.

    Args:
        voice: name of the catalogue.
        say: (text, manner) → the voice's own speech, where no engine of this machine is to be asked for it.
        shaped_there: ``say`` gives speech that has the rate, pitch and gain of the manner already.
    """

    name = "speech"
    version = 4
    codec = "bytes"
    held = 1
    """Each utterance is stored as soon as it is spoken."""

    def __init__(self, voice: str, say: Say | None = None, *, shaped_there: bool = False) -> None:
        self.model = f"{voice}-{voice_named(voice).model}" + ("-shaped" if shaped_there else "")
        self.say = say or (lambda text, manner: speak(text, manner.voice))
        self.shaped_there = shaped_there

    def compute(self, payload: tuple[str, Prosody]) -> bytes:
        """Speak, shape, measure and pack one utterance; raises Unspoken when the engine fails."""
        text, manner = payload
        try:
            own = trim_silence(self.say(text, manner))
        except EngineFailure as failure:
            # Saying nothing is a property of the text, and kept like a sound.
            if failure.reason == SILENT:
                return b""
            raise Unspoken(utterance_digest(text, manner), failure.reason) from failure
        # Of what cannot be heard ``trim_silence`` leaves nothing, and of nothing else.
        if not len(own):
            return b""
        if self.shaped_there:
            return _packed(own, 0.0)
        # Trimmed before, as silence need not be shaped, and after, as what was faint beside the loudest frame may be silence now.
        shaped = trim_silence(change_prosody(own, rate=manner.rate, pitch=manner.pitch, gain=manner.gain))
        if not len(shaped):
            return b""
        samples, turned = fit_peak(shaped)
        return _packed(samples, turned)


def _packed(samples: Samples, turned: float) -> bytes:
    """What is measured is what is stored, and nothing is decoded for it."""
    import numpy as np

    stored = to_int16(samples)
    return Clip(measure(stored * np.float32(1 / 32768)), turned, to_flac(stored)).pack()
