"""Requests to Google: their form, their number, the units they are counted in, and processes that share answers."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from components.core.result_cache import PaidAnnotator, ResultCache
from components.execution.usage import total_usage
from components.google.client import GoogleClient
from components.google.method import refusal_reason
from components.language.google import GoogleModeration, GoogleSentiment, GoogleSyntax
from components.language.google_parse import to_parse
from components.providers.google_readings import polarity
from components.vision.google import GoogleVision
from tests.support.google.client_calls import QUICK, ask, fail_first, sentiment, texts, vision
from tests.support.google.fake_google import (
    DOWN,
    LABEL_DETECTION,
    PLAIN_TEXT,
    UTF32,
    FakeGoogle,
    Reply,
    error,
)  # fmt: skip
from tests.support.google.google_documents import DOCUMENTS, DOG


def test_each_method_is_a_paid_annotator_and_sends_no_request_when_made(google: FakeGoogle) -> None:
    client = GoogleClient(QUICK)
    for annotator in (
        GoogleSyntax(client, "en"),
        GoogleSentiment(client, "en"),
        GoogleModeration(client, "en"),
        GoogleVision(client),
    ):
        assert isinstance(annotator, PaidAnnotator)
    assert not google.requests


def test_a_request_has_the_documented_form_and_no_key_in_its_address(google: FakeGoogle) -> None:
    result = GoogleSyntax(GoogleClient(QUICK), "en").compute(DOG)
    path, headers, body = google.requests[0]
    assert path == "/v1/documents:annotateText" and headers["x-goog-api-key"] == "key-of-a-test"
    assert body == {
        "document": {"type": PLAIN_TEXT, "language": "en", "content": DOG},
        "features": {"extractSyntax": True, "extractEntities": True},
        "encodingType": UTF32,
    }
    assert [token["text"]["content"] for token in result["tokens"]] == ["A", "dog", "on", "the", "beach", "."]
    assert "UNKNOWN" not in json.dumps(result["tokens"])


@pytest.mark.parametrize("text", DOCUMENTS)
def test_an_answer_without_default_values_parses_as_the_full_answer_of_older_caches(google: FakeGoogle, text: str) -> None:
    stored = GoogleSyntax(GoogleClient(QUICK), "en").compute(text)
    assert to_parse(stored) == to_parse(DOCUMENTS[text])
    assert len(json.dumps(stored)) < len(json.dumps({name: DOCUMENTS[text][name] for name in ("tokens", "entities")})) / 2


def test_a_neutral_sentiment_is_an_answer(google: FakeGoogle) -> None:
    google.script = lambda number, path, body: Reply(200, {"documentSentiment": {"magnitude": 0, "score": 0}})
    assert polarity(sentiment().compute(DOG)) == 0.0 and len(google.requests) == 1


def test_control_characters_and_lone_surrogates_are_sent_as_spaces_and_blank_texts_are_not_sent(google: FakeGoogle) -> None:
    result = ask(sentiment(), ["A\0dog\ud800on", " \n\u200b", "👍"])
    assert sorted(google.texts()) == ["A dog on", "👍"]
    assert refusal_reason(result["1"]) and not refusal_reason(result["0"]) and not refusal_reason(result["2"])


@pytest.mark.parametrize("at_once", [3, 16])
def test_no_more_requests_are_made_at_once_than_allowed(
    google: FakeGoogle, caplog: pytest.LogCaptureFixture, at_once: int
) -> None:
    google.script = lambda number, path, body: Reply(200, {"documentSentiment": {"score": 0.5}}, delay=0.05)
    ask(sentiment(QUICK.model_copy(update={"at_once": at_once})), texts(40))
    assert 3 <= google.most_at_once <= at_once and "pool is full" not in caplog.text


def test_images_are_sent_in_requests_of_sixteen_and_a_bad_one_affects_no_other(google: FakeGoogle) -> None:
    images = [b"image %d" % number for number in range(20)]
    google.bad = {hashlib.sha256(images[5]).hexdigest()}
    result = ask(vision(), images)
    assert sorted(len(body["requests"]) for _, _, body in google.requests) == [4, 16]
    assert [key for key in result if refusal_reason(result[key])] == ["5"] and "Bad image data" in refusal_reason(result["5"])
    assert google.requests[0][2]["requests"][0]["features"][0] == {"type": LABEL_DETECTION, "maxResults": 20}


def test_only_the_image_with_a_transient_error_is_requested_again(google: FakeGoogle) -> None:
    def busy(number: int, path: str, body: Any) -> Reply | None:
        if number:
            return None
        reply = google.answer(path, body)
        reply.content["responses"][3] = {"error": {"code": 14, "message": "The service is currently unavailable."}}
        return reply

    google.script = busy
    result = ask(vision(), [b"image %d" % number for number in range(8)])
    assert [len(body["requests"]) for _, _, body in google.requests] == [8, 1]
    assert len(result) == 8 and not any(map(refusal_reason, result.values()))


def test_after_a_refused_request_each_image_is_requested_alone(google: FakeGoogle) -> None:
    def malformed(number: int, path: str, body: Any) -> Reply | None:
        zeros = any("AAAA" in each["image"]["content"] for each in body["requests"])
        return error(400, "INVALID_ARGUMENT", "Request payload is malformed.") if zeros else None

    google.script = malformed
    result = ask(vision(), [b"one", b"\0" * 30, b"three"])
    assert [bool(refusal_reason(result[key])) for key in "012"] == [False, True, False]


def test_an_empty_image_is_not_sent_and_a_large_one_is_reduced(google: FakeGoogle) -> None:
    import io

    import numpy as np
    from PIL import Image

    noise = np.random.default_rng(1).integers(0, 255, (1700, 1800, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).save(out, "PNG")
    assert len(out.getvalue()) > 6_000_000
    result = ask(vision(), [b"", out.getvalue(), b"\0" * 7_000_000])
    assert [bool(refusal_reason(result[key])) for key in "012"] == [True, False, True]
    (request,) = google.requests
    assert len(request[2]["requests"]) == 1 and len(request[2]["requests"][0]["image"]["content"]) < 6_000_000


def test_requests_are_counted_in_googles_units(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = fail_first(1, DOWN)
    client = GoogleClient(QUICK, tmp_path)
    GoogleSyntax(client, "en").compute("x" * 1001)
    GoogleModeration(client, "en").compute("x" * 101)
    google.bad = {hashlib.sha256(b"bad").hexdigest()}
    ask(vision(folder=tmp_path), [b"good", b"bad"])
    assert total_usage(tmp_path) == {
        "requests": 4, "syntax": 2, "entities": 2, "moderation": 2, "label_detection": 1, "safe_search_detection": 1,
    }  # fmt: skip


def _annotate(folder: Path, order: int) -> None:
    payloads = {text: text for text in texts(24)[::order]}
    assert set(ResultCache(folder).annotate(sentiment(), payloads)) == set(payloads)


@pytest.mark.long
def test_processes_with_equal_requests_pay_for_each_once(google: FakeGoogle, tmp_path: Path) -> None:
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


@pytest.mark.long
def test_requests_of_a_killed_process_are_sent_by_another(google: FakeGoogle, tmp_path: Path) -> None:
    google.script = lambda number, path, body: Reply(200, {"documentSentiment": {"score": 0.5}}, delay=0.3)
    first_process = multiprocessing.get_context("fork").Process(target=_annotate, args=(tmp_path, 1))
    first_process.start()
    while not google.requests:
        time.sleep(0.01)
    killer = threading.Timer(0.2, first_process.kill)
    killer.start()
    _annotate(tmp_path, 1)
    assert set(google.texts()) == set(texts(24))
