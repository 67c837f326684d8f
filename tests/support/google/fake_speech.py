"""What the server on loopback says aloud: tones as long as the text, in a WAV file as Google's REST reference documents it."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

SECONDS_A_CHARACTER = 0.06
VOICES = {f"en-US-Wavenet-{letter}": 110.0 + 12.0 * number for number, letter in enumerate("ABCDEFGHIJ")}
"""Each voice's own pitch, in Hz."""


def problem_of(body: Any) -> str:
    """Why the service would refuse the request; empty when it would not. What is no documented request fails the test."""
    assert set(body) == {"input", "voice", "audioConfig"} and set(body["input"]) == {"text"}
    assert set(body["voice"]) == {"languageCode", "name"}
    asked = body["audioConfig"]
    assert set(asked) <= {"audioEncoding", "sampleRateHertz", "speakingRate", "pitch", "volumeGainDb"}
    assert asked["audioEncoding"] == "LINEAR16" and asked["sampleRateHertz"] == 16_000
    if body["voice"]["name"] not in VOICES:
        return f"Voice '{body['voice']['name']}' does not exist. Is it misspelled?"
    if len(body["input"]["text"].encode()) > 5_000:
        return "Either `input.text` or `input.ssml` is longer than the limit of 5000 bytes."
    for name, least, most in (("speakingRate", 0.25, 2.0), ("pitch", -20.0, 20.0), ("volumeGainDb", -96.0, 16.0)):
        if not least <= asked.get(name, 1.0) <= most:
            return f"Invalid {name}: must be in the range [{least}, {most}]."
    return ""


def pcm(body: Any) -> np.ndarray:
    """The samples: a tone of the voice's pitch, .06 s a character, in the manner asked for."""
    asked = body["audioConfig"]
    seconds = SECONDS_A_CHARACTER * len(body["input"]["text"]) / asked.get("speakingRate", 1.0)
    hertz = VOICES[body["voice"]["name"]] * 2.0 ** (asked.get("pitch", 0.0) / 12.0)
    time = np.arange(round(seconds * 16_000)) / 16_000
    loud = 0.2 * 10.0 ** (asked.get("volumeGainDb", 0.0) / 20.0)
    return np.round(np.clip(loud * np.sin(2 * np.pi * hertz * time), -1, 1) * 32767).astype("<i2")


def spoken(body: Any) -> bytes:
    """The WAV file."""
    return wav(pcm(body).tobytes())


def wav(samples: bytes, rate: int = 16_000, channels: int = 1, bits: int = 16, tag: int = 1, size: int | None = None) -> bytes:
    """A WAV file; ``size`` is what its header tells of the samples where that is not the truth."""
    block = channels * bits // 8
    stated = len(samples) if size is None else size
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, tag, channels, rate, rate * block, block, bits)
    return struct.pack("<4sI4s", b"RIFF", 28 + len(samples) + 8, b"WAVE") + form + struct.pack("<4sI", b"data", stated) + samples
