"""Google Cloud Text-to-Speech v1, as an annotator: a text in one voice's own manner, or in one that is asked for.

Source: the documented form of ``text:synthesize`` and the limits of its AudioConfig; the paper spoke its captions with it
(CSC, section 2.2). What is stored is Google's own audio, as lossless FLAC, or why there is none: how it is shaped
or judged later (``voices/paid.py``) asks and pays for nothing again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from components.core.digests import digest_value
from components.google.method import INVALID_ARGUMENT, Requester, refusal_answer
from components.speech.voices.google_wav import pcm_of, to_lossless

RATE_HZ = 16_000
"""The sampling rate that is asked for (CSC, section 2.2)."""
MOST_BYTES = 5_000
"""Bytes of text a request may hold."""
LIMITS = {"rate": (0.25, 2.0), "pitch": (-20.0, 20.0), "gain": (-96.0, 16.0)}
"""What the service takes; the documentation said 4.0 for the rate until 2025."""


class Shape(NamedTuple):
    """A manner that the service is asked for."""

    rate: float
    """1 = the voice's own speed."""
    pitch: float
    """Semitones above the voice's own."""
    gain: float
    """dB."""


class Wish(NamedTuple):
    """What is to be spoken, and how: the annotator's payload."""

    text: str
    """As it is to be spoken; control characters and runs of white space are sent as one space."""
    voice: str
    """Google's name of the voice: ``en-US-Wavenet-A``."""
    shape: Shape | None = None
    """None for the voice's own manner."""


def raw_key(wish: Wish) -> str:
    """Return the content key under which the service's answer is kept: two wishes with one key are sent as one request."""
    shape = None if wish.shape is None else [float(value) for value in wish.shape]
    return digest_value({"text": clean(wish.text), "voice": wish.voice, "shape": shape})


def unaskable(wish: Wish) -> str:
    """Return why the service would not speak it, by its documented limits; empty when it may be asked."""
    text = clean(wish.text)
    if not text:
        return "nothing to speak"
    if (size := len(text.encode())) > MOST_BYTES:
        return f"{size} bytes of text; Google takes {MOST_BYTES} at most"
    for name, value in wish.shape._asdict().items() if wish.shape else ():
        least, most = LIMITS[name]
        if not least <= value <= most:
            return f"a {name} of {value}; Google takes {least} to {most}"
    return ""


def clean(text: str) -> str:
    """Return the text without lone surrogates and control characters; white space costs too, so runs of it become one space."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


class GoogleSpeech:
    """``text:synthesize``: :class:`Wish` → FLAC bytes; none for an answer without samples, JSON for a refusal."""

    name = "google.speech"
    version = 1
    model = "texttospeech-v1"
    codec = "bytes"
    service, rpc, most, room = "texttospeech", "synthesize_speech", 1, 20_000

    def __init__(self, asker: Requester) -> None:
        self.asker = asker

    def compute(self, payload: Wish) -> bytes:
        """Return what is stored for one wish."""
        return dict(self.ask_many([("", payload)]))[""]

    def ask_many(self, payloads: Iterable[tuple[str, Wish]]) -> Iterator[tuple[str, bytes]]:
        """Yield what is stored for each wish; one beyond the service's limits is refused here, and not asked."""
        beyond: list[tuple[str, str]] = []

        def askable() -> Iterator[tuple[str, Wish]]:
            for key, wish in payloads:
                if why := unaskable(wish):
                    beyond.append((key, why))
                else:
                    yield key, wish

        for key, said in self.asker.ask(self, askable()):
            yield key, said["flac"] if "flac" in said else _refusal(said)
        for key, why in beyond:
            yield key, _refusal(refusal_answer(INVALID_ARGUMENT, f"not asked: {why}"))

    def item(self, payload: Wish) -> str:
        """Return the request as JSON."""
        return json.dumps(request_of(payload), ensure_ascii=False)

    def body(self, items: Sequence[str]) -> dict[str, Any]:
        """Return the request for one wish."""
        body: dict[str, Any] = json.loads(items[0])
        return body

    def answers(self, answer: dict[str, Any], number: int) -> list[dict[str, Any]]:
        """Return the audio, packed; raises ValueError when it is not what was asked for, and says why."""
        return [{"flac": to_lossless(pcm_of(base64.b64decode(answer.get("audioContent", "")), RATE_HZ), RATE_HZ)}]

    def units(self, item: str) -> dict[str, int]:
        """One a character, white space among them."""
        return {"speech_wavenet": len(json.loads(item)["input"]["text"])}


def request_of(wish: Wish) -> dict[str, Any]:
    """Return the request, by the names of its fields."""
    audio: dict[str, Any] = {"audio_encoding": "LINEAR16", "sample_rate_hertz": RATE_HZ}
    if wish.shape is not None:
        audio |= {"speaking_rate": wish.shape.rate, "pitch": wish.shape.pitch, "volume_gain_db": wish.shape.gain}
    language = "-".join(wish.voice.split("-")[:2])
    return {"input": {"text": clean(wish.text)}, "voice": {"language_code": language, "name": wish.voice}, "audio_config": audio}


def _refusal(said: Mapping[str, Any]) -> bytes:
    return json.dumps(said, sort_keys=True).encode()
