"""Requests for speech: their form, their keys and their limits."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from components.core.result_cache import PaidAnnotator
from components.speech.voices.google_speech import (
    MAX_BYTES,
    RequestedProsody,
    SpeechRequest,
    answer_key,
    exceeded_limit,
    printable_text,
)
from components.speech.voices.paid import read_answer
from tests.speech.voices.google_requests import CAPTION, VOICE, speech
from tests.support.google.fake_google import FakeGoogle
from tests.support.google.fake_speech import pcm


def test_google_speech_is_a_paid_annotator_and_sends_no_request_without_payloads(google: FakeGoogle) -> None:
    assert isinstance(speech(), PaidAnnotator)
    assert dict(speech().ask_many([])) == {} and not google.requests


def test_a_request_without_prosody_has_the_documented_form_and_its_audio_is_stored_unchanged(google: FakeGoogle) -> None:
    stored = speech().compute(CAPTION)
    ((path, headers, body),) = google.requests
    assert path == "/v1/text:synthesize" and headers["x-goog-api-key"] == "key-of-a-test"
    assert body == {
        "input": {"text": "a dog on the beach"},
        "voice": {"languageCode": "en-US", "name": VOICE},
        "audioConfig": {"audioEncoding": "LINEAR16", "sampleRateHertz": 16_000},
    }
    samples, rate = soundfile.read(io.BytesIO(stored), dtype="int16")
    assert stored.startswith(b"fLaC") and rate == 16_000 and np.array_equal(samples, pcm(body))
    result = read_answer(stored)
    assert result.refusal == "" and result.samples.dtype == np.float32 and len(result.samples) == len(samples)


def test_the_prosody_is_sent_and_measured_in_the_answer(google: FakeGoogle) -> None:
    plain, shaped = speech().compute(CAPTION), speech().compute(CAPTION._replace(prosody=RequestedProsody(1.2, -1.5, 3.25)))
    asked = google.requests[1][2]["audioConfig"]
    assert (asked["speakingRate"], asked["pitch"], asked["volumeGainDb"]) == (1.2, -1.5, 3.25)
    own, other = read_answer(plain).samples, read_answer(shaped).samples
    assert len(other) == pytest.approx(len(own) / 1.2, abs=2)
    assert np.abs(other).max() / np.abs(own).max() == pytest.approx(10 ** (3.25 / 20), rel=0.01)


@given(st.text(max_size=60), st.text(max_size=60))
def test_two_requests_share_a_key_exactly_when_they_are_equal(one: str, other: str) -> None:
    from components.speech.voices.google_speech import request_of

    same = request_of(SpeechRequest(one, VOICE)) == request_of(SpeechRequest(other, VOICE))
    assert (answer_key(SpeechRequest(one, VOICE)) == answer_key(SpeechRequest(other, VOICE))) is same
    assert answer_key(SpeechRequest(one, VOICE)) != answer_key(SpeechRequest(one, "en-US-Wavenet-A"))
    assert answer_key(SpeechRequest(one, VOICE)) != answer_key(SpeechRequest(one, VOICE, RequestedProsody(1.0, 0.0, 0.0)))
    assert answer_key(SpeechRequest(one, VOICE, RequestedProsody(1.0, 0.0, 0.0))) != answer_key(
        SpeechRequest(one, VOICE, RequestedProsody(1.0, 0.0, 0.1))
    )
    # A whole number in JSON parameters is the same manner.
    assert answer_key(SpeechRequest(one, VOICE, RequestedProsody(1, 0, 0))) == answer_key(
        SpeechRequest(one, VOICE, RequestedProsody(1.0, 0.0, 0.0))
    )


@given(st.text(max_size=200))
def test_every_sent_text_is_valid_json_text(text: str) -> None:
    sent = printable_text(text)
    assert sent.encode().decode() == sent and json.loads(json.dumps(sent)) == sent
    assert sent == sent.strip() and "  " not in sent and all(char.isprintable() for char in sent)
    assert (exceeded_limit(SpeechRequest(text, VOICE)) == "nothing to speak") is (sent == "")


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        (SpeechRequest("x" * (MAX_BYTES + 1), VOICE), "5001 bytes of text; Google takes 5000"),
        (SpeechRequest("é" * 2501, VOICE), "5002 bytes of text"),
        (SpeechRequest(" \n\0\u200b", VOICE), "nothing to speak"),
        (CAPTION._replace(prosody=RequestedProsody(0.2, 0, 0)), "a rate of 0.2; Google takes 0.25 to 2.0"),
        (CAPTION._replace(prosody=RequestedProsody(2.1, 0, 0)), "a rate of 2.1"),
        (CAPTION._replace(prosody=RequestedProsody(float("nan"), 0, 0)), "a rate of nan"),
        (CAPTION._replace(prosody=RequestedProsody(1, -20.5, 0)), "a pitch of -20.5; Google takes -20.0 to 20.0"),
        (CAPTION._replace(prosody=RequestedProsody(1, 0, 16.5)), "a gain of 16.5; Google takes -96.0 to 16.0"),
    ],
)
def test_a_request_beyond_the_limits_is_refused_locally(google: FakeGoogle, wish: SpeechRequest, why: str) -> None:
    result = dict(speech().ask_many([("beyond", wish), ("fine", CAPTION)]))
    assert why in exceeded_limit(wish) and why in read_answer(result["beyond"]).refusal
    assert read_answer(result["fine"]).refusal == "" and google.spoken() == [CAPTION.text]


def test_requests_at_the_limits_are_sent(google: FakeGoogle) -> None:
    for wish in (
        SpeechRequest("x" * MAX_BYTES, VOICE, RequestedProsody(2.0, 20.0, -96.0)),
        SpeechRequest('"\\' * 2500, VOICE),
        CAPTION._replace(prosody=RequestedProsody(0.25, -20.0, 16.0)),
    ):
        assert exceeded_limit(wish) == "" and speech().compute(wish).startswith(b"fLaC")
    assert len(google.requests) == 3


def test_requests_beyond_the_limits_need_no_credentials(google: FakeGoogle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY")
    monkeypatch.setenv("CLOUDSDK_CONFIG", "/nonexistent")
    assert read_answer(speech().compute(SpeechRequest("", VOICE))).refusal == "3 not asked: nothing to speak"
