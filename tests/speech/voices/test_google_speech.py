"""Answers of Google's speech service: what is kept, what is repeated, what ends the run; nothing is paid for twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from components.core.result_cache import ResultCache
from components.execution.usage import total_usage
from components.speech.voices.google_speech import SpeechRequest
from components.speech.voices.paid import SILENCE, read_answer
from tests.speech.voices.google_requests import CAPTION, VOICE, audio, speech, speech_requests
from tests.support.google.client_calls import QUICK, fail_first
from tests.support.google.fake_google import (
    DOWN,
    FakeGoogle,
    Reply,
    error,
)  # fmt: skip
from tests.support.google.fake_speech import wav

TOO_LONG = error(400, "INVALID_ARGUMENT", "Either `input.text` or `input.ssml` is longer than the limit of 5000 bytes.")


def test_a_text_that_google_refuses_is_refused_permanently_and_alone(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: TOO_LONG if body["input"]["text"].endswith(" 1") else None
    result = ResultCache(tmp_path).annotate(speech(), speech_requests(3))
    assert [bool(read_answer(stored).refusal) for stored in result.values()] == [False, True, False]
    assert "longer than the limit" in read_answer(list(result.values())[1]).refusal and len(google.requests) == 3
    ResultCache(tmp_path).annotate(speech(), speech_requests(3))
    assert len(google.requests) == 3


SOUND = np.full(1600, 4000, "<i2").tobytes()
NONSENSE = {
    "broken base64": (Reply(200, {"audioContent": "UklGR*=="}), "parse audioContent"),
    "a lying length": (audio(wav(SOUND, size=99_000)), "with 3200 bytes of samples, fewer than the 99000"),
    "another rate": (audio(wav(SOUND, rate=24_000)), "24000 Hz"),
    "an MP3": (audio(b"ID3\x04" + SOUND), "not a WAV file"),
    "empty": (Reply(200, {"audioContent": ""}), "not a WAV file"),
    "nothing": (Reply(200, {}), "not a WAV file"),
    "a number": (Reply(200, {"audioContent": 3}), "parse audioContent"),
    "letters beyond ASCII": (Reply(200, {"audioContent": "é"}), "not a WAV file"),
    "cut short": (Reply(200, b'{"audioContent": "UklG', cut=True), "Payload|JSON"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_an_invalid_audio_answer_is_requested_again(google: FakeGoogle, name: str) -> None:
    google.script = fail_first(2, NONSENSE[name][0])
    assert read_answer(speech().compute(CAPTION)).refusal == "" and len(google.requests) == 3


@pytest.mark.parametrize("name", [name for name in NONSENSE if name != "cut short"])
def test_a_text_without_a_valid_answer_is_refused_with_the_reason(google: FakeGoogle, name: str) -> None:
    reply, why = NONSENSE[name]
    google.script = lambda number, path, body: reply if body["input"]["text"].endswith(" 1") else None
    result = dict(speech().ask_many(speech_requests(5).items()))
    refused = [read_answer(stored).refusal for stored in result.values() if read_answer(stored).refusal]
    assert len(refused) == 1 and why in refused[0]
    assert len(google.requests) == 4 + 1 + QUICK.retries


@pytest.mark.parametrize("samples", [b"", bytes(8000), np.full(1600, 20, "<i2").tobytes()])
def test_a_silent_answer_is_paid_for_once_and_gives_no_audio(google: FakeGoogle, tmp_path: Path, samples: bytes) -> None:
    google.script = lambda number, path, body: audio(wav(samples))
    folder = tmp_path / "usage"
    for _ in range(2):
        result = ResultCache(tmp_path).annotate(speech(folder=folder), speech_requests(4))
        assert [read_answer(stored).refusal for stored in result.values()] == [SILENCE] * 4
        assert all(len(read_answer(stored).samples) == 0 for stored in result.values())
    assert len(google.requests) == 4
    assert total_usage(folder) == {"requests": 4, "speech_wavenet": sum(len(wish.text) for wish in speech_requests(4).values())}


def test_only_characters_of_answered_texts_are_counted(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: DOWN if number == 0 else TOO_LONG if "bad" in body["input"]["text"] else None
    result = ["crème  brûlée", "bad", "x" * 6000]
    dict(speech(folder=tmp_path).ask_many((text, SpeechRequest(text, VOICE)) for text in result))
    assert total_usage(tmp_path) == {"requests": 3, "speech_wavenet": len("crème brûlée")}
