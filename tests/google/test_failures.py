"""Failures of Google's services: what is repeated, what refuses one item, what ends the run; no answer is lost."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
from components.google.method import refusal_reason
from components.google.responses import retry_after
from tests.support.google.client_calls import QUICK, ask, fail_first, sentiment, texts
from tests.support.google.fake_google import (
    BAD_KEY,
    BAD_TEXT,
    DAY_USED_UP,
    DOWN,
    MINUTE_USED_UP,
    OLD_DAY_USED_UP,
    FakeGoogle,
    Reply,
    error,
)  # fmt: skip
from tests.support.google.google_documents import DOG


@pytest.mark.parametrize(
    "trouble", [DOWN, error(500, "INTERNAL", "Internal error encountered."), MINUTE_USED_UP, Reply(502, b"<html>")]
)
def test_transient_failures_are_requested_again(google: FakeGoogle, trouble: Reply) -> None:
    google.script = fail_first(2, trouble)
    assert "documentSentiment" in sentiment().compute(DOG)
    assert len(google.requests) == 3


def test_retry_after_is_honoured(google: FakeGoogle) -> None:
    google.script = fail_first(1, error(429, "RESOURCE_EXHAUSTED", "Slow down.", Retry_After="1"))
    begun = time.monotonic()
    sentiment().compute(DOG)
    assert time.monotonic() - begun >= 1.0


def test_a_retry_after_of_an_hour_stops_the_run_without_a_wait(google: FakeGoogle) -> None:
    google.script = fail_first(9, error(503, "UNAVAILABLE", "Later.", Retry_After="3600"))
    with pytest.raises(HearsightError, match="did not answer in 1 tries"):
        sentiment().compute(DOG)


@pytest.mark.parametrize(("value", "least", "most"), [("7", 7, 7), ("", 0, 0), ("soon", 0, 0), ("-5", 0, 0), ("²", 0, 0),
                                                      ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0)])  # fmt: skip
def test_retry_after_is_read_whatever_it_holds(value: str, least: float, most: float) -> None:
    assert least <= retry_after({"Retry-After": value}) <= most


def test_an_unavailable_service_gives_a_one_line_error_after_all_retries(google: FakeGoogle) -> None:
    google.script = fail_first(99, DOWN)
    with pytest.raises(HearsightError, match=r"did not answer in 4 tries .503 UNAVAILABLE") as caught:
        sentiment().compute(DOG)
    assert "run again" in str(caught.value) and "\n" not in str(caught.value)
    assert len(google.requests) == 4


def test_an_unreachable_server_gives_a_one_line_error(google: FakeGoogle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_LANGUAGE_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(HearsightError, match="Google Natural Language did not answer"):
        sentiment().compute(DOG)


def test_a_slow_answer_is_abandoned_and_requested_again(google: FakeGoogle) -> None:
    google.script = fail_first(1, Reply(200, {"documentSentiment": {"score": 1}}, delay=2.0))
    result = sentiment(QUICK.model_copy(update={"timeout": 0.4})).compute(DOG)
    assert result["documentSentiment"]["score"] == 0.1 and len(google.requests) == 2


@pytest.mark.parametrize("used_up", [DAY_USED_UP, OLD_DAY_USED_UP])
def test_an_exhausted_quota_stops_the_run_and_the_next_requests_only_the_rest(
    google: FakeGoogle, tmp_path: Path, used_up: Reply
) -> None:
    payloads = {text: text for text in texts(30)}
    google.script = lambda number, path, body: used_up if number >= 12 else None
    with pytest.raises(HearsightError, match="quota is used up") as caught:
        ResultCache(tmp_path).annotate(sentiment(), payloads)
    assert "stored answers are kept" in str(caught.value)
    # No request is repeated, and none is made after the first refusal except those in flight.
    assert 13 <= len(google.requests) <= 12 + QUICK.at_once
    answered = set(google.texts()[:12])
    google.script, google.requests = (lambda number, path, body: None), []
    store = ResultCache(tmp_path)
    assert set(store.annotate(sentiment(), payloads)) == set(payloads)
    assert set(google.texts()) == set(payloads) - answered and len(google.requests) == 18
    assert store.computed == {"google.sentiment.en": 18}


def test_answers_in_flight_when_a_quota_is_exhausted_are_kept(google: FakeGoogle, tmp_path: Path) -> None:
    slow = {text: text for text in texts(4)}
    google.script = lambda number, path, body: (
        DAY_USED_UP
        if body["document"]["content"].endswith("0.")
        else Reply(200, {"documentSentiment": {"score": 0.5}}, delay=0.5)
    )
    with pytest.raises(HearsightError, match="quota"):
        ResultCache(tmp_path).annotate(sentiment(), slow)
    assert len(ResultCache(tmp_path).read(sentiment(), list(slow))) == 3


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (BAD_KEY, "rejects the credentials"),
        (error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."), "rejects the credentials"),
        (error(403, "PERMISSION_DENIED", "API has not been used in project 1 before.", "SERVICE_DISABLED"), "denies access"),
        (error(404, "NOT_FOUND", "Not found."), "address"),
        (Reply(302, b"", {"Location": "http://127.0.0.1:9/"}), "address"),
    ],
)
def test_failures_that_concern_no_item_stop_the_run_at_once(
    google: FakeGoogle, tmp_path: Path, reply: Reply, message: str
) -> None:
    google.script = fail_first(99, reply)
    with pytest.raises(HearsightError, match=message) as caught:
        ResultCache(tmp_path).annotate(sentiment(), {text: text for text in texts(9)})
    assert "key-of-a-test" not in str(caught.value)
    # google-auth renews its token and asks twice more after a 401.
    assert len(google.requests) <= QUICK.at_once * (3 if reply.status == 401 else 1)
    assert ResultCache(tmp_path).read(sentiment(), texts(9)) == {}


def test_a_text_that_google_refuses_is_refused_and_the_others_are_answered(google: FakeGoogle) -> None:
    google.script = lambda number, path, body: BAD_TEXT if body["document"]["content"].endswith("1.") else None
    result = ask(sentiment(), texts(3))
    assert [bool(refusal_reason(result[key])) for key in "012"] == [False, True, False]
    assert "not supported" in refusal_reason(result["1"]) and len(google.requests) == 3


NONSENSE = [
    b'{"documentSentiment": {"sco',
    b"",
    b"<html>hello</html>",
    b"[]",
    b"\xff\xfe",
    b'{"tokens": 3}',
    b"[" * 5000,
    b"1" * 5000,
]


@pytest.mark.parametrize("content", NONSENSE)
def test_an_invalid_answer_is_requested_again(google: FakeGoogle, content: bytes) -> None:
    google.script = fail_first(2, Reply(200, content))
    assert "documentSentiment" in sentiment().compute(DOG)


def test_a_truncated_answer_is_requested_again(google: FakeGoogle) -> None:
    google.script = fail_first(1, Reply(200, b'{"documentSentiment": {"score"', cut=True))
    assert "documentSentiment" in sentiment().compute(DOG) and len(google.requests) == 2


def test_only_an_item_with_invalid_answers_is_refused(google: FakeGoogle) -> None:
    google.script = lambda number, path, body: Reply(200, b"{") if body["document"]["content"].endswith("1.") else None
    result = ask(sentiment(), texts(6))
    assert [key for key in result if refusal_reason(result[key])] == ["1"]


def test_a_service_with_only_invalid_answers_stops_the_run_and_refuses_no_item(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: Reply(200, b"<html>Log in to the network</html>")
    with pytest.raises(HearsightError, match=r"no usable answers.*JSON"):
        ResultCache(tmp_path).annotate(sentiment(), {text: text for text in texts(9)})
    assert ResultCache(tmp_path).read(sentiment(), texts(9)) == {}
