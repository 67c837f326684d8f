"""Google Cloud Text-to-Speech v1 as an annotator: a text in a voice's default prosody, or in a requested one.

Source: the documented form of ``text:synthesize`` and the limits of its AudioConfig. CSC §2.2 uses this service. The result
is Google's audio as lossless FLAC, or a refusal; later processing (``voices/paid.py``) needs no new request.

The header of a WAV file may be wrong: a stream's is written before its length is known, and a proxy may cut a body short. So
sizes are compared with the bytes present, and rates with each other. Whether the audio is audible is checked by the reader.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from components.core.digests import digest_value
from components.google.method import INVALID_ARGUMENT, Requester, refusal_answer
from components.speech.audio.files import RATE_HZ, to_flac
from components.speech.audio.wav import find_chunks, only_chunks

PCM, EXTENSIBLE = 1, 0xFFFE
STREAM_SIZES = frozenset({0, 0x7FFFFFFF, 0xFFFFFFFF})
"""Sizes of a data chunk that mean "to the end of the file" in a stream's header."""


def read_pcm(wav: bytes, rate: int) -> bytes:
    """Return the 16-bit mono samples of a WAV file, little-endian; there may be none.

    Args:
        wav: the whole file.
        rate: the requested sampling rate in Hz.

    Raises:
        ValueError: another format, or a header that contradicts the bytes or the rate.
    """
    if wav[:4] != b"RIFF" or wav[8:12] != b"WAVE":
        raise ValueError("audio that is not a WAV file")
    chunks = find_chunks(wav, "<")
    if "fmt " not in chunks or "data" not in chunks:
        raise ValueError("a WAV file without samples, or without their format before them")
    start, size = chunks["fmt "]
    _check_format(wav[start : start + size], rate)
    return _samples(wav, *chunks["data"])


def _check_format(content: bytes, rate: int) -> None:
    if len(content) < 16:
        raise ValueError("a WAV file whose header is cut short")
    tag, channels, header_rate, bytes_a_second, block, bits = struct.unpack_from("<HHIIHH", content)
    if tag == EXTENSIBLE and len(content) >= 26:
        tag = struct.unpack_from("<H", content, 24)[0]
    if (tag, channels, bits, block) != (PCM, 1, 16, 2):
        raise ValueError(f"a WAV file of format {tag} with {channels} channels of {bits} bits, not 16-bit mono")
    if header_rate != rate or bytes_a_second != 2 * rate:
        raise ValueError(f"a WAV file of {header_rate} Hz and {bytes_a_second} bytes a second, not of the requested {rate} Hz")


def _samples(wav: bytes, start: int, size: int) -> bytes:
    present = len(wav) - start
    if size in STREAM_SIZES and not (size < present and only_chunks(wav, start + size, "<")):
        size = present
    if size > present:
        raise ValueError(f"a WAV file with {present} bytes of samples, fewer than the {size} of its header")
    if not only_chunks(wav, start + size + size % 2, "<"):
        raise ValueError(f"a WAV file with {present} bytes of samples, more than the {size} of its header")
    if size % 2:
        raise ValueError("a WAV file that ends within a sample")
    return wav[start : start + size]


MAX_BYTES = 5_000
"""Maximum bytes of text per request."""
LIMITS = {"rate": (0.25, 2.0), "pitch": (-20.0, 20.0), "gain": (-96.0, 16.0)}
"""The service's limits; until 2025 the documented maximum rate was 4.0."""


class RequestedProsody(NamedTuple):
    """Prosody that the service applies."""

    rate: float
    """1 is the voice's default rate."""
    pitch: float
    """Semitones above the voice's default."""
    gain: float
    """dB."""


class SpeechRequest(NamedTuple):
    """The annotator's payload."""

    text: str
    """Normalised text; control characters and runs of white space are sent as one space."""
    voice: str
    """Google's name of the voice: ``en-US-Wavenet-A``."""
    prosody: RequestedProsody | None = None
    """None for the voice's default."""


def answer_key(request: SpeechRequest) -> str:
    """Return the content key of the service's answer; payloads with equal keys are sent as one request."""
    prosody = None if request.prosody is None else [float(value) for value in request.prosody]
    return digest_value({"text": printable_text(request.text), "voice": request.voice, "shape": prosody})


def exceeded_limit(request: SpeechRequest) -> str:
    """Return which documented limit the request exceeds; empty for none."""
    text = printable_text(request.text)
    if not text:
        return "nothing to speak"
    if (size := len(text.encode())) > MAX_BYTES:
        return f"{size} bytes of text; Google takes {MAX_BYTES} at most"
    for name, value in request.prosody._asdict().items() if request.prosody else ():
        least, most = LIMITS[name]
        if not least <= value <= most:
            return f"a {name} of {value}; Google takes {least} to {most}"
    return ""


def printable_text(text: str) -> str:
    """Return the text with control characters, lone surrogates and runs of white space as one space: white space is billed."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


class GoogleSpeech:
    """``text:synthesize``: :class:`SpeechRequest` → FLAC bytes; empty for an answer without samples, JSON for a refusal."""

    name = "google.speech"
    version = 1
    model = "texttospeech-v1"
    codec = "bytes"
    service, rpc, most, room = "texttospeech", "synthesize_speech", 1, 20_000

    def __init__(self, asker: Requester) -> None:
        self.asker = asker

    def compute(self, payload: SpeechRequest) -> bytes:
        """Return the result to store for one request."""
        return dict(self.ask_many([("", payload)]))[""]

    def ask_many(self, payloads: Iterable[tuple[str, SpeechRequest]]) -> Iterator[tuple[str, bytes]]:
        """Yield the result to store for each request; one beyond the service's limits is refused without being sent."""
        exceeding: list[tuple[str, str]] = []

        def within_limits() -> Iterator[tuple[str, SpeechRequest]]:
            for key, request in payloads:
                if why := exceeded_limit(request):
                    exceeding.append((key, why))
                else:
                    yield key, request

        for key, answer in self.asker.ask(self, within_limits()):
            yield key, answer["flac"] if "flac" in answer else _refusal(answer)
        for key, why in exceeding:
            yield key, _refusal(refusal_answer(INVALID_ARGUMENT, f"not asked: {why}"))

    def item(self, payload: SpeechRequest) -> str:
        """Return the request as JSON."""
        return json.dumps(request_of(payload), ensure_ascii=False)

    def body(self, items: Sequence[str]) -> dict[str, Any]:
        """Return the request body."""
        body: dict[str, Any] = json.loads(items[0])
        return body

    def answers(self, answer: dict[str, Any], number: int) -> list[dict[str, Any]]:
        """Return the audio as FLAC; raise ValueError with the reason when it is not in the requested format."""
        # The rate that the paper requested (CSC §2.2) is also ours.
        pcm = read_pcm(base64.b64decode(answer.get("audioContent", "")), RATE_HZ)
        return [{"flac": to_flac(np.frombuffer(pcm, "<i2")) if pcm else b""}]

    def units(self, item: str) -> dict[str, int]:
        """Return one unit per character, white space included."""
        return {"speech_wavenet": len(json.loads(item)["input"]["text"])}


def request_of(request: SpeechRequest) -> dict[str, Any]:
    """Return the request body, by the names of its fields."""
    audio: dict[str, Any] = {"audio_encoding": "LINEAR16", "sample_rate_hertz": RATE_HZ}
    if (prosody := request.prosody) is not None:
        audio |= {"speaking_rate": prosody.rate, "pitch": prosody.pitch, "volume_gain_db": prosody.gain}
    voice = {"language_code": "-".join(request.voice.split("-")[:2]), "name": request.voice}
    return {"input": {"text": printable_text(request.text)}, "voice": voice, "audio_config": audio}


def _refusal(answer: Mapping[str, Any]) -> bytes:
    return json.dumps(answer, sort_keys=True).encode()
