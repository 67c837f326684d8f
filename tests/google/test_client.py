"""Asking Google: what is sent, what is asked again, what ends a run, and that nothing answered is lost."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import jwt

from components.core.errors import HearsightError
from components.core.result_cache import PaidAnnotator, ResultCache
from components.google.client import GoogleClient
from components.google.credentials import SCOPE
from components.google.method import refusal_reason
from components.google.responses import retry_after
from components.google.settings import Asking
from components.google.usage import total_usage
from components.language.google import GoogleModeration, GoogleSentiment, GoogleSyntax
from components.language.google_parse import to_parse
from components.providers.google_readings import polarity
from components.vision.google import GoogleVision
from tests.google.fake_google import (
    BAD_KEY,
    BAD_TEXT,
    DAY_USED_UP,
    DOWN,
    LABEL_DETECTION,
    MINUTE_USED_UP,
    OLD_DAY_USED_UP,
    PLAIN_TEXT,
    UTF32,
    FakeGoogle,
    Reply,
    error,
)  # fmt: skip
from tests.google.google_documents import DOCUMENTS, DOG

QUICK = Asking(at_once=4, timeout=5.0, retries=3, backoff=0.01)


def sentiment(asking: Asking = QUICK, folder: Path | None = None) -> GoogleSentiment:
    return GoogleSentiment(GoogleClient(asking, folder), "en")


def vision(asking: Asking = QUICK, folder: Path | None = None) -> GoogleVision:
    return GoogleVision(GoogleClient(asking, folder))


def ask(method: Any, payloads: Sequence[Any]) -> dict[str, Any]:
    return dict(method.ask_many((str(number), payload) for number, payload in enumerate(payloads)))


def first(times: int, reply: Reply) -> Callable[[int, str, Any], Reply | None]:
    return lambda number, path, body: reply if number < times else None


def texts(number: int) -> list[str]:
    return [f"Text number {each}." for each in range(number)]


def test_each_is_an_annotator_of_many_payloads(google: FakeGoogle) -> None:
    client = GoogleClient(QUICK)
    for annotator in (
        GoogleSyntax(client, "en"),
        GoogleSentiment(client, "en"),
        GoogleModeration(client, "en"),
        GoogleVision(client),
    ):
        assert isinstance(annotator, PaidAnnotator)
    assert not google.requests


def test_a_request_is_of_the_documented_form_and_the_key_is_in_no_address(google: FakeGoogle) -> None:
    found = GoogleSyntax(GoogleClient(QUICK), "en").compute(DOG)
    path, headers, body = google.requests[0]
    assert path == "/v1/documents:annotateText" and headers["x-goog-api-key"] == "key-of-a-test"
    assert body == {
        "document": {"type": PLAIN_TEXT, "language": "en", "content": DOG},
        "features": {"extractSyntax": True, "extractEntities": True},
        "encodingType": UTF32,
    }
    assert [token["text"]["content"] for token in found["tokens"]] == ["A", "dog", "on", "the", "beach", "."]
    assert "UNKNOWN" not in json.dumps(found["tokens"])


@pytest.mark.parametrize("text", DOCUMENTS)
def test_an_answer_without_default_values_reads_as_the_whole_one_that_older_caches_hold(google: FakeGoogle, text: str) -> None:
    stored = GoogleSyntax(GoogleClient(QUICK), "en").compute(text)
    assert to_parse(stored) == to_parse(DOCUMENTS[text])
    assert len(json.dumps(stored)) < len(json.dumps({name: DOCUMENTS[text][name] for name in ("tokens", "entities")})) / 2


def test_a_neutral_sentiment_is_an_answer(google: FakeGoogle) -> None:
    google.script = lambda number, path, body: Reply(200, {"documentSentiment": {"magnitude": 0, "score": 0}})
    assert polarity(sentiment().compute(DOG)) == 0.0 and len(google.requests) == 1


def test_control_characters_and_lone_surrogates_are_sent_as_spaces_and_blank_texts_not_at_all(google: FakeGoogle) -> None:
    found = ask(sentiment(), ["A\0dog\ud800on", " \n\u200b", "👍"])
    assert sorted(google.texts()) == ["A dog on", "👍"]
    assert refusal_reason(found["1"]) and not refusal_reason(found["0"]) and not refusal_reason(found["2"])


@pytest.mark.parametrize(
    "trouble", [DOWN, error(500, "INTERNAL", "Internal error encountered."), MINUTE_USED_UP, Reply(502, b"<html>")]
)
def test_what_may_pass_is_asked_again(google: FakeGoogle, trouble: Reply) -> None:
    google.script = first(2, trouble)
    assert "documentSentiment" in sentiment().compute(DOG)
    assert len(google.requests) == 3


def test_retry_after_is_honoured(google: FakeGoogle) -> None:
    google.script = first(1, error(429, "RESOURCE_EXHAUSTED", "Slow down.", Retry_After="1"))
    begun = time.monotonic()
    sentiment().compute(DOG)
    assert time.monotonic() - begun >= 1.0


def test_a_retry_after_of_an_hour_ends_the_run_instead_of_waiting(google: FakeGoogle) -> None:
    google.script = first(9, error(503, "UNAVAILABLE", "Later.", Retry_After="3600"))
    with pytest.raises(HearsightError, match="did not answer in 1 tries"):
        sentiment().compute(DOG)


@pytest.mark.parametrize(("value", "least", "most"), [("7", 7, 7), ("", 0, 0), ("soon", 0, 0), ("-5", 0, 0), ("²", 0, 0),
                                                      ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0)])  # fmt: skip
def test_retry_after_is_read_whatever_it_holds(value: str, least: float, most: float) -> None:
    assert least <= retry_after({"Retry-After": value}) <= most


def test_a_service_that_stays_down_is_one_line_after_every_retry(google: FakeGoogle) -> None:
    google.script = first(99, DOWN)
    with pytest.raises(HearsightError, match=r"did not answer in 4 tries .503 UNAVAILABLE") as caught:
        sentiment().compute(DOG)
    assert "run again" in str(caught.value) and "\n" not in str(caught.value)
    assert len(google.requests) == 4


def test_a_server_that_is_not_there_is_one_line(google: FakeGoogle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_LANGUAGE_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(HearsightError, match="Google Natural Language did not answer"):
        sentiment().compute(DOG)


def test_a_slow_answer_is_given_up_and_asked_for_again(google: FakeGoogle) -> None:
    google.script = first(1, Reply(200, {"documentSentiment": {"score": 1}}, delay=2.0))
    found = sentiment(QUICK.model_copy(update={"timeout": 0.4})).compute(DOG)
    assert found["documentSentiment"]["score"] == 0.1 and len(google.requests) == 2


@pytest.mark.parametrize("used_up", [DAY_USED_UP, OLD_DAY_USED_UP])
def test_a_used_up_quota_ends_the_run_and_the_next_asks_only_for_the_rest(
    google: FakeGoogle, tmp_path: Path, used_up: Reply
) -> None:
    payloads = {text: text for text in texts(30)}
    google.script = lambda number, path, body: used_up if number >= 12 else None
    with pytest.raises(HearsightError, match="quota is used up") as caught:
        ResultCache(tmp_path).annotate(sentiment(), payloads)
    assert "stored answers are kept" in str(caught.value)
    # No request was repeated, and none was made after the first no but those that were on their way.
    assert 13 <= len(google.requests) <= 12 + QUICK.at_once
    answered = set(google.texts()[:12])
    google.script, google.requests = (lambda number, path, body: None), []
    store = ResultCache(tmp_path)
    assert set(store.annotate(sentiment(), payloads)) == set(payloads)
    assert set(google.texts()) == set(payloads) - answered and len(google.requests) == 18
    assert store.computed == {"google.sentiment.en": 18}


def test_what_was_on_its_way_when_a_quota_ends_is_kept_as_well(google: FakeGoogle, tmp_path: Path) -> None:
    slow = {text: text for text in texts(4)}
    google.script = lambda number, path, body: (
        DAY_USED_UP
        if body["document"]["content"].endswith("0.")
        else Reply(200, {"documentSentiment": {"score": 0.5}}, delay=0.5)
    )
    with pytest.raises(HearsightError, match="quota"):
        ResultCache(tmp_path).annotate(sentiment(), slow)
    assert len(ResultCache(tmp_path).read_existing(sentiment(), list(slow))) == 3


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (BAD_KEY, "rejects the credentials"),
        (error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."), "rejects the credentials"),
        (error(403, "PERMISSION_DENIED", "API has not been used in project 1 before.", "SERVICE_DISABLED"), "denies access"),
        (error(404, "NOT_FOUND", "Not found."), "address"),
        (Reply(302, b"", {"Location": "http://127.0.0.1:9/"}), "address"),
    ],
)
def test_what_no_item_is_at_fault_for_ends_the_run_at_once(google: FakeGoogle, tmp_path: Path, reply: Reply, told: str) -> None:
    google.script = first(99, reply)
    with pytest.raises(HearsightError, match=told) as caught:
        ResultCache(tmp_path).annotate(sentiment(), {text: text for text in texts(9)})
    assert "key-of-a-test" not in str(caught.value)
    # google-auth renews its token and asks twice more after a 401.
    assert len(google.requests) <= QUICK.at_once * (3 if reply.status == 401 else 1)
    assert ResultCache(tmp_path).read_existing(sentiment(), texts(9)) == {}


def test_a_text_that_google_refuses_is_refused_and_the_others_are_answered(google: FakeGoogle) -> None:
    google.script = lambda number, path, body: BAD_TEXT if body["document"]["content"].endswith("1.") else None
    found = ask(sentiment(), texts(3))
    assert [bool(refusal_reason(found[key])) for key in "012"] == [False, True, False]
    assert "not supported" in refusal_reason(found["1"]) and len(google.requests) == 3


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
def test_nonsense_is_asked_for_again(google: FakeGoogle, content: bytes) -> None:
    google.script = first(2, Reply(200, content))
    assert "documentSentiment" in sentiment().compute(DOG)


def test_an_answer_cut_short_is_asked_for_again(google: FakeGoogle) -> None:
    google.script = first(1, Reply(200, b'{"documentSentiment": {"score"', cut=True))
    assert "documentSentiment" in sentiment().compute(DOG) and len(google.requests) == 2


def test_an_item_that_gets_nothing_but_nonsense_is_refused_alone(google: FakeGoogle) -> None:
    google.script = lambda number, path, body: Reply(200, b"{") if body["document"]["content"].endswith("1.") else None
    found = ask(sentiment(), texts(6))
    assert [key for key in found if refusal_reason(found[key])] == ["1"]


def test_a_service_that_says_nothing_but_nonsense_is_no_items_fault(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: Reply(200, b"<html>Log in to the network</html>")
    with pytest.raises(HearsightError, match=r"no usable answers.*JSON"):
        ResultCache(tmp_path).annotate(sentiment(), {text: text for text in texts(9)})
    assert ResultCache(tmp_path).read_existing(sentiment(), texts(9)) == {}


@pytest.mark.parametrize("at_once", [3, 16])
def test_no_more_requests_are_made_at_once_than_allowed(
    google: FakeGoogle, caplog: pytest.LogCaptureFixture, at_once: int
) -> None:
    google.script = lambda number, path, body: Reply(200, {"documentSentiment": {"score": 0.5}}, delay=0.05)
    ask(sentiment(QUICK.model_copy(update={"at_once": at_once})), texts(40))
    assert 3 <= google.most_at_once <= at_once and "pool is full" not in caplog.text


def test_pictures_go_sixteen_a_request_and_one_bad_picture_harms_no_other(google: FakeGoogle) -> None:
    pictures = [b"picture %d" % number for number in range(20)]
    google.bad = {hashlib.sha256(pictures[5]).hexdigest()}
    found = ask(vision(), pictures)
    assert sorted(len(body["requests"]) for _, _, body in google.requests) == [4, 16]
    assert [key for key in found if refusal_reason(found[key])] == ["5"] and "Bad image data" in refusal_reason(found["5"])
    assert google.requests[0][2]["requests"][0]["features"][0] == {"type": LABEL_DETECTION, "maxResults": 20}


def test_a_picture_whose_error_may_pass_is_asked_again_alone(google: FakeGoogle) -> None:
    def busy(number: int, path: str, body: Any) -> Reply | None:
        if number:
            return None
        reply = google.answer(path, body)
        reply.content["responses"][3] = {"error": {"code": 14, "message": "The service is currently unavailable."}}
        return reply

    google.script = busy
    found = ask(vision(), [b"picture %d" % number for number in range(8)])
    assert [len(body["requests"]) for _, _, body in google.requests] == [8, 1]
    assert len(found) == 8 and not any(map(refusal_reason, found.values()))


def test_a_request_refused_whole_is_asked_a_picture_at_a_time(google: FakeGoogle) -> None:
    def malformed(number: int, path: str, body: Any) -> Reply | None:
        zeros = any("AAAA" in each["image"]["content"] for each in body["requests"])
        return error(400, "INVALID_ARGUMENT", "Request payload is malformed.") if zeros else None

    google.script = malformed
    found = ask(vision(), [b"one", b"\0" * 30, b"three"])
    assert [bool(refusal_reason(found[key])) for key in "012"] == [False, True, False]


def test_an_empty_picture_is_not_sent_and_a_huge_one_is_sent_smaller(google: FakeGoogle) -> None:
    import io

    import numpy as np
    from PIL import Image

    noise = np.random.default_rng(1).integers(0, 255, (1700, 1800, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).save(out, "PNG")
    assert len(out.getvalue()) > 6_000_000
    found = ask(vision(), [b"", out.getvalue(), b"\0" * 7_000_000])
    assert [bool(refusal_reason(found[key])) for key in "012"] == [True, False, True]
    (request,) = google.requests
    assert len(request[2]["requests"]) == 1 and len(request[2]["requests"][0]["image"]["content"]) < 6_000_000


def test_what_was_asked_is_counted_in_googles_units(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = first(1, DOWN)
    client = GoogleClient(QUICK, tmp_path)
    GoogleSyntax(client, "en").compute("x" * 1001)
    GoogleModeration(client, "en").compute("x" * 101)
    google.bad = {hashlib.sha256(b"bad").hexdigest()}
    ask(vision(folder=tmp_path), [b"good", b"bad"])
    assert total_usage(tmp_path) == {
        "requests": 4, "syntax": 2, "entities": 2, "moderation": 2, "label_detection": 1, "safe_search_detection": 1,
    }  # fmt: skip


@pytest.mark.parametrize("given", ["http://example.com", "ftp://127.0.0.1", "http://127.0.0.1.example.com:80", "nonsense"])
def test_an_address_that_would_send_the_key_in_the_clear_is_refused(
    google: FakeGoogle, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("GOOGLE_LANGUAGE_ENDPOINT", given)
    with pytest.raises(HearsightError, match="GOOGLE_LANGUAGE_ENDPOINT"):
        sentiment().compute(DOG)


def test_without_credentials_the_variable_and_the_command_are_named(google: FakeGoogle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("CLOUDSDK_CONFIG", "/nonexistent")
    with pytest.raises(HearsightError, match="set GOOGLE_API_KEY, or run `gcloud auth application-default login`"):
        sentiment().compute(DOG)
    assert not google.requests


@pytest.mark.parametrize("missing", ["google.cloud", "google.cloud.vision_v1"])
def test_without_the_extra_the_command_that_installs_it_is_named(
    google: FakeGoogle, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(HearsightError, match=r"are not installed .* run `pip install 'hearsight.google.'`"):
        sentiment().compute(DOG)
    assert not google.requests


def test_a_key_that_is_none_is_told_before_anything_is_asked(google: FakeGoogle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "a b\nc")
    with pytest.raises(HearsightError, match="GOOGLE_API_KEY contains"):
        sentiment().compute(DOG)


def test_a_service_account_signs_its_own_bearer_token(
    google: FakeGoogle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    use_credentials(
        {
            "type": "service_account", "project_id": "p", "private_key_id": "1", "private_key": private,
            "client_email": "a@p.example", "client_id": "1", "token_uri": f"{google.url}/token",
        }, monkeypatch, tmp_path,
    )  # fmt: skip
    ask(sentiment(), texts(3))
    assert len(google.requests) == 3
    for _, headers, _ in google.requests:
        scheme, _, token = headers["authorization"].partition(" ")
        claims = jwt.decode(token, public)
        assert (
            scheme == "Bearer" and claims["iss"] == "a@p.example" and claims["scope"] == SCOPE and "x-goog-api-key" not in headers
        )


def test_a_workload_identity_is_exchanged_for_a_bearer_token(
    google: FakeGoogle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    subject = tmp_path / "subject"
    subject.write_text("proof of a test")
    use_credentials(
        {
            "type": "external_account", "audience": "//iam.googleapis.com/projects/1/locations/global/pools/p/providers/q",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": f"{google.url}/token",
            "credential_source": {"file": str(subject)},
        }, monkeypatch, tmp_path,
    )  # fmt: skip
    token = {"access_token": "token-of-a-test", "expires_in": 3600, "token_type": "Bearer", "issued_token_type": "t"}
    google.script = lambda number, path, body: Reply(200, token) if path == "/token" else None
    ask(sentiment(), texts(3))
    asked = [headers for path, headers, _ in google.requests if path != "/token"]
    assert len(asked) == 3
    assert all(headers["authorization"] == "Bearer token-of-a-test" and "x-goog-api-key" not in headers for headers in asked)
    google.script = lambda number, path, body: Reply(400, {"error": "invalid_grant"}) if path == "/token" else None
    with pytest.raises(HearsightError, match="Google issued no token"):
        sentiment().compute(DOG)


def use_credentials(content: dict[str, Any], monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    file = folder / "credentials.json"
    file.write_text(json.dumps(content))
    monkeypatch.delenv("GOOGLE_API_KEY")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")  # or google-auth asks Google for it


def _annotate(folder: Path, order: int) -> None:
    payloads = {text: text for text in texts(24)[::order]}
    assert set(ResultCache(folder).annotate(sentiment(), payloads)) == set(payloads)


def test_processes_that_want_the_same_pay_for_it_once(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: Reply(200, {"documentSentiment": {"score": 0.5}}, delay=0.05)
    # Processes of their own from the start, as a run's are: what this one did before is none of theirs.
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_annotate, args=(tmp_path, order)) for order in (1, -1, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(900)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert sorted(google.texts()) == sorted(texts(24))


def test_what_another_process_wanted_and_did_not_get_is_asked_here(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: Reply(200, {"documentSentiment": {"score": 0.5}}, delay=0.3)
    first_process = multiprocessing.get_context("fork").Process(target=_annotate, args=(tmp_path, 1))
    first_process.start()
    while not google.requests:
        time.sleep(0.01)
    killer = threading.Timer(0.2, first_process.kill)
    killer.start()
    _annotate(tmp_path, 1)
    assert set(google.texts()) == set(texts(24))
