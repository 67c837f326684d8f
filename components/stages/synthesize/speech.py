"""Speech of one text: spoken once, shaped, measured and packed. This is the expensive part of synthesis."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from components.speech.audio.files import Samples, to_flac, to_int16
from components.speech.audio.measures import Measures, measure
from components.speech.audio.shaping import change_prosody, fit_peak
from components.speech.audio.trim import trim_silence
from components.speech.voices.catalogue import voice_named
from components.speech.voices.failures import SILENT, EngineFailure
from components.speech.voices.speaking import speak
from components.stages.synthesize.prosody import Prosody, utterance_digest

if TYPE_CHECKING:
    Say = Callable[[str, Prosody], Samples]


class Unspoken(Exception):
    """An engine failed on one utterance for a reason that may not recur (hang, crash, error)."""

    def __init__(self, digest: str, reason: str) -> None:
        self.digest, self.reason = digest, reason
        super().__init__(digest, reason)


@dataclass(frozen=True)
class Clip:
    """One cached utterance: the FLAC file and its measures."""

    measures: Measures
    turned: float
    """Attenuation in dB in addition to the drawn gain, so that nothing clips; 0 for nearly all."""
    flac: bytes

    def pack(self) -> bytes:
        """Return one line of JSON, then the FLAC, so that reading the measures decodes no sound."""
        return json.dumps({"measures": asdict(self.measures), "turned": self.turned}, sort_keys=True).encode() + b"\n" + self.flac


def unpack(packed: bytes) -> Clip | None:
    """Return the clip packed by :meth:`Speech.compute`, or None for inaudible speech."""
    if not packed:
        return None
    line, _, flac = packed.partition(b"\n")
    header = json.loads(line)
    return Clip(Measures(**header["measures"]), header["turned"], flac)


class Speech:
    """Annotator: (text, prosody) → a packed :class:`Clip`, 16 kHz mono 16 bit; no bytes if nothing is audible.

    Args:
        voice: name in the catalogue.
        say: (text, prosody) → the voice's speech, in place of a local engine.
        shaped_by_service: ``say`` returns speech that already has the rate, pitch and gain.
    """

    name = "speech"
    version = 4
    codec = "bytes"
    held = 1
    """Each utterance is stored as soon as it is spoken."""

    def __init__(self, voice: str, say: Say | None = None, *, shaped_by_service: bool = False) -> None:
        self.model = f"{voice}-{voice_named(voice).model}" + ("-shaped" if shaped_by_service else "")
        self.say = say or (lambda text, prosody: speak(text, prosody.voice))
        self.shaped_by_service = shaped_by_service

    def compute(self, payload: tuple[str, Prosody]) -> bytes:
        """Speak, shape, measure and pack one utterance; raise Unspoken when the engine fails."""
        text, prosody = payload
        try:
            speech = trim_silence(self.say(text, prosody))
        except EngineFailure as failure:
            # Silence is a property of the text, so it is cached like a sound.
            if failure.reason == SILENT:
                return b""
            raise Unspoken(utterance_digest(text, prosody), failure.reason) from failure
        # ``trim_silence`` leaves nothing exactly if nothing is audible.
        if not len(speech):
            return b""
        if self.shaped_by_service:
            return _packed(speech, 0.0)
        # Trimmed before, because silence needs no shaping, and after, because faint parts may have become silent.
        shaped = trim_silence(change_prosody(speech, rate=prosody.rate, pitch=prosody.pitch, gain=prosody.gain))
        if not len(shaped):
            return b""
        samples, turned = fit_peak(shaped)
        return _packed(samples, turned)


def _packed(samples: Samples, turned: float) -> bytes:
    """Return the packed clip of 16 kHz samples; measures are of the stored samples, and nothing is decoded."""
    stored = to_int16(samples)
    return Clip(measure(stored * np.float32(1 / 32768)), turned, to_flac(stored)).pack()
