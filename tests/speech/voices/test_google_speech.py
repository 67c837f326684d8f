"""Having Google speak: what is sent, what is kept, what is asked again, and that nothing is paid for twice."""

from __future__ import annotations

import base64
import io
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.result_cache import PaidAnnotator, ResultCache
from components.google.client import GoogleClient
from components.google.settings import Asking
from components.google.usage import total_usage
from components.speech.voices.google_speech import (
    MAX_BYTES,
    GoogleSpeech,
    RequestedProsody,
    SpeechRequest,
    answer_key,
    exceeded_limit,
    printable_text,
)
from components.speech.voices.paid import SILENCE, read_answer
from tests.google.fake_google import (
    BAD_KEY,
    DAY_USED_UP,
    DOWN,
    MINUTE_USED_UP,
    FakeGoogle,
    Reply,
    error,
)  # fmt: skip
from tests.google.fake_speech import pcm, wav
from tests.support import HANG, until

QUICK = Asking(at_once=4, timeout=5.0, retries=3, backoff=0.01)
VOICE = "en-US-Wavenet-C"
CAPTION = SpeechRequest("a dog on the beach", VOICE)
FORBIDDEN = error(403, "PERMISSION_DENIED", "Cloud Text-to-Speech API has not been used in project 1.", "SERVICE_DISABLED")
TOO_LONG = error(400, "INVALID_ARGUMENT", "Either `input.text` or `input.ssml` is longer than the limit of 5000 bytes.")


def speech(asking: Asking = QUICK, folder: Path | None = None) -> GoogleSpeech:
    return GoogleSpeech(GoogleClient(asking, folder))


def wishes(number: int) -> dict[str, SpeechRequest]:
    return {answer_key(wish): wish for wish in (SpeechRequest(f"caption number {each}", VOICE) for each in range(number))}


def audio(content: bytes) -> Reply:
    return Reply(200, {"audioContent": base64.b64encode(content).decode()})


def first(times: int, reply: Reply) -> Callable[[int, str, Any], Reply | None]:
    return lambda number, path, body: reply if number < times else None


def test_it_is_a_paid_annotator_and_asks_nothing_before_the_first_wish(google: FakeGoogle) -> None:
    assert isinstance(speech(), PaidAnnotator)
    assert dict(speech().ask_many([])) == {} and not google.requests


def test_a_plain_wish_is_sent_in_the_documented_form_and_the_audio_kept_as_it_came(google: FakeGoogle) -> None:
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
    found = read_answer(stored)
    assert found.refusal == "" and found.samples.dtype == np.float32 and len(found.samples) == len(samples)


def test_a_manner_is_sent_and_heard(google: FakeGoogle) -> None:
    plain, shaped = speech().compute(CAPTION), speech().compute(CAPTION._replace(prosody=RequestedProsody(1.2, -1.5, 3.25)))
    asked = google.requests[1][2]["audioConfig"]
    assert (asked["speakingRate"], asked["pitch"], asked["volumeGainDb"]) == (1.2, -1.5, 3.25)
    own, other = read_answer(plain).samples, read_answer(shaped).samples
    assert len(other) == pytest.approx(len(own) / 1.2, abs=2)
    assert np.abs(other).max() / np.abs(own).max() == pytest.approx(10 ** (3.25 / 20), rel=0.01)


@given(st.text(max_size=60), st.text(max_size=60))
def test_wishes_have_one_key_exactly_when_one_request_answers_both(one: str, other: str) -> None:
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
def test_whatever_the_text_what_is_sent_can_be_sent(text: str) -> None:
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
def test_a_wish_beyond_the_limits_is_refused_without_a_call(google: FakeGoogle, wish: SpeechRequest, why: str) -> None:
    found = dict(speech().ask_many([("beyond", wish), ("fine", CAPTION)]))
    assert why in exceeded_limit(wish) and why in read_answer(found["beyond"]).refusal
    assert read_answer(found["fine"]).refusal == "" and google.spoken() == [CAPTION.text]


def test_wishes_at_the_limits_are_asked(google: FakeGoogle) -> None:
    for wish in (
        SpeechRequest("x" * MAX_BYTES, VOICE, RequestedProsody(2.0, 20.0, -96.0)),
        SpeechRequest('"\\' * 2500, VOICE),
        CAPTION._replace(prosody=RequestedProsody(0.25, -20.0, 16.0)),
    ):
        assert exceeded_limit(wish) == "" and speech().compute(wish).startswith(b"fLaC")
    assert len(google.requests) == 3


def test_only_wishes_beyond_the_limits_need_no_credentials(google: FakeGoogle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY")
    monkeypatch.setenv("CLOUDSDK_CONFIG", "/nonexistent")
    assert read_answer(speech().compute(SpeechRequest("", VOICE))).refusal == "3 not asked: nothing to speak"


@pytest.mark.parametrize("trouble", [DOWN, error(500, "INTERNAL", "Internal error encountered."), MINUTE_USED_UP])
def test_what_may_pass_is_asked_again(google: FakeGoogle, trouble: Reply) -> None:
    google.script = first(2, trouble)
    assert read_answer(speech().compute(CAPTION)).refusal == "" and len(google.requests) == 3


def test_retry_after_is_honoured(google: FakeGoogle) -> None:
    google.script = first(1, error(429, "RESOURCE_EXHAUSTED", "Slow down.", Retry_After="1"))
    begun = time.monotonic()
    assert read_answer(speech().compute(CAPTION)).refusal == "" and time.monotonic() - begun >= 1.0


def test_a_slow_answer_is_given_up_and_asked_for_again(google: FakeGoogle) -> None:
    google.script = first(1, Reply(200, {"audioContent": ""}, delay=1.5))
    assert read_answer(speech(QUICK.model_copy(update={"timeout": 0.4})).compute(CAPTION)).refusal == ""
    assert len(google.requests) == 2


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (BAD_KEY, "Google Text-to-Speech rejects the credentials"),
        (FORBIDDEN, "Google Text-to-Speech denies access.*enable the service and its billing"),
        (error(400, "INVALID_ARGUMENT", "Voice 'en-US-Wavenet-C' does not exist. Is it misspelled?"), "remove it from `voices`"),
        (error(404, "NOT_FOUND", "Not found."), "address"),
        (DOWN, "Google Text-to-Speech did not answer in 4 tries"),
        (DAY_USED_UP, "quota is used up"),
    ],
)
def test_what_no_text_is_at_fault_for_ends_the_run_with_one_line(
    google: FakeGoogle, tmp_path: Path, reply: Reply, told: str
) -> None:
    google.script = first(99, reply)
    with pytest.raises(HearsightError, match=told) as caught:
        ResultCache(tmp_path).annotate(speech(), wishes(9))
    assert "key-of-a-test" not in str(caught.value) and "\n" not in str(caught.value)
    assert ResultCache(tmp_path).read_existing(speech(), list(wishes(9))) == {}


def test_a_text_that_google_refuses_is_refused_alone_and_for_good(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: TOO_LONG if body["input"]["text"].endswith(" 1") else None
    found = ResultCache(tmp_path).annotate(speech(), wishes(3))
    assert [bool(read_answer(stored).refusal) for stored in found.values()] == [False, True, False]
    assert "longer than the limit" in read_answer(list(found.values())[1]).refusal and len(google.requests) == 3
    ResultCache(tmp_path).annotate(speech(), wishes(3))
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
def test_an_unsound_answer_is_asked_for_again(google: FakeGoogle, name: str) -> None:
    google.script = first(2, NONSENSE[name][0])
    assert read_answer(speech().compute(CAPTION)).refusal == "" and len(google.requests) == 3


@pytest.mark.parametrize("name", [name for name in NONSENSE if name != "cut short"])
def test_a_text_that_gets_no_sound_answer_is_refused_and_told_why(google: FakeGoogle, name: str) -> None:
    reply, why = NONSENSE[name]
    google.script = lambda number, path, body: reply if body["input"]["text"].endswith(" 1") else None
    found = dict(speech().ask_many(wishes(5).items()))
    refused = [read_answer(stored).refusal for stored in found.values() if read_answer(stored).refusal]
    assert len(refused) == 1 and why in refused[0]
    assert len(google.requests) == 4 + 1 + QUICK.retries


def test_a_service_that_never_gives_audio_ends_the_run_and_nothing_is_kept(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: audio(wav(SOUND, rate=24_000))
    with pytest.raises(HearsightError, match=r"Google Text-to-Speech gives no usable answers.*24000 Hz"):
        ResultCache(tmp_path).annotate(speech(), wishes(9))
    assert ResultCache(tmp_path).read_existing(speech(), list(wishes(9))) == {}


@pytest.mark.parametrize("samples", [b"", bytes(8000), np.full(1600, 20, "<i2").tobytes()])
def test_silence_is_paid_for_once_and_read_as_nothing_to_hear(google: FakeGoogle, tmp_path: Path, samples: bytes) -> None:
    google.script = lambda number, path, body: audio(wav(samples))
    folder = tmp_path / "usage"
    for _ in range(2):
        found = ResultCache(tmp_path).annotate(speech(folder=folder), wishes(4))
        assert [read_answer(stored).refusal for stored in found.values()] == [SILENCE] * 4
        assert all(len(read_answer(stored).samples) == 0 for stored in found.values())
    assert len(google.requests) == 4
    assert total_usage(folder) == {"requests": 4, "speech_wavenet": sum(len(wish.text) for wish in wishes(4).values())}


def test_characters_of_what_was_answered_are_counted_and_of_nothing_else(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: DOWN if number == 0 else TOO_LONG if "bad" in body["input"]["text"] else None
    told = ["crème  brûlée", "bad", "x" * 6000]
    dict(speech(folder=tmp_path).ask_many((text, SpeechRequest(text, VOICE)) for text in told))
    assert total_usage(tmp_path) == {"requests": 3, "speech_wavenet": len("crème brûlée")}


def test_a_quota_that_ends_in_the_middle_loses_nothing(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: DAY_USED_UP if number >= 7 else None
    with pytest.raises(HearsightError, match="stored answers are kept"):
        ResultCache(tmp_path).annotate(speech(), wishes(20))
    answered, google.script, google.requests = set(google.spoken()[:7]), (lambda number, path, body: None), []
    store = ResultCache(tmp_path)
    assert set(store.annotate(speech(), wishes(20))) == set(wishes(20))
    assert not answered & set(google.spoken()) and len(google.requests) == 13


def _annotate(folder: Path, order: int) -> None:
    found = ResultCache(folder).annotate(speech(), dict(list(wishes(24).items())[::order]))
    assert len(found) == 24 and not any(read_answer(stored).refusal for stored in found.values())


def test_processes_that_want_the_same_buy_it_once(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: Reply(200, google.answer(path, body).content, delay=0.05)
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_annotate, args=(tmp_path, order)) for order in (1, -1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(900)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert sorted(google.spoken()) == sorted(wish.text for wish in wishes(24).values())


def test_what_was_answered_before_a_kill_is_not_bought_again(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: Reply(200, google.answer(path, body).content, delay=0.05 if number < 10 else 30)
    worker = multiprocessing.get_context("spawn").Process(target=_annotate, args=(tmp_path, 1))
    worker.start()
    until(lambda: len(google.requests) >= 14)
    # Ten are answered and stored, four on their way when the process dies.
    until(lambda: len(ResultCache(tmp_path).read_existing(speech(), list(wishes(24)))) >= 10)
    os.kill(worker.pid or 0, signal.SIGKILL)
    worker.join(HANG)
    answered = set(google.spoken()[:10])
    google.script, google.requests = (lambda number, path, body: None), []
    _annotate(tmp_path, 1)
    assert not answered & set(google.spoken()) and len(google.requests) == 14
