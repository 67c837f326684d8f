"""The dear part of synthesis: one caption spoken once, as FLAC."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from components.providers.voice import RATE_HZ, is_silent, shape, speak, voice_model
from components.synthesize.draws import Manner

if TYPE_CHECKING:
    from components.providers.voice import Samples


class Speech:
    """Annotator: (text, manner) → FLAC bytes, 16 kHz mono 16 bit; no bytes at all when nothing can be heard."""

    name = "speech"
    version = 1
    codec = "bytes"

    def __init__(self, voice: str) -> None:
        self.model = f"{voice}-{voice_model(voice)}"

    def compute(self, payload: tuple[str, Manner]) -> bytes:
        """Speak, shape and pack one utterance."""
        text, manner = payload
        own = speak(text, manner.voice)
        if is_silent(own):
            return b""
        samples = shape(own, rate=manner.rate, pitch=manner.pitch, gain=manner.gain)
        return b"" if is_silent(samples) else to_flac(samples)


def to_flac(samples: Samples) -> bytes:
    """Float samples as a 16 kHz, 16-bit FLAC file."""
    import soundfile

    buffer = io.BytesIO()
    soundfile.write(buffer, samples, RATE_HZ, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()


def seconds_of(flac: bytes) -> float:
    """The duration of a FLAC file."""
    import soundfile

    info = soundfile.info(io.BytesIO(flac))
    return float(info.frames / info.samplerate)
