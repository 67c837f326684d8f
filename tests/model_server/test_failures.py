"""Faults of servers: what is asked again, what one item goes without, what ends the run; nothing that was answered is lost."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
from components.model_server.client import MOST_UNUSABLE, TRIES, read_answer
from components.model_server.prompts import Rewriting
from components.model_server.settings import ServerPrices
from tests.support.model_server.calls import ask, contents, questions, rewriter
from tests.support.model_server.chat_server import ANSWERS, FAULTS, ChatServer, completion

GOOD = Rewriting(**ANSWERS["rewrite"])
PASSING = ("429", "500", "503", "silent", "cut off")
UNUSABLE = (
    "no JSON",
    "half JSON",
    "another form",
    "too long",
    "length",
    "empty",
    "no choices",
    "a page",
    "prompt injection obeyed",
)
REFUSED = {"bad image": "400: cannot decode the image", "too large": "413: the request is too large"}
FATAL = {
    "401": ("refuses requests .401", "MODEL_SERVER_KEY"),
    "403": ("refuses requests .403", "MODEL_SERVER_KEY"),
    "404": ("refuses requests .404", "name a model that the server has"),
    "429": ("refuses requests .429", "lower server.at_once"),
    "500": ("refuses requests .500", "server's log"),
    "silent": ("does not answer after . tries .it answers too slowly", "start it"),
    "cut off": ("does not answer", "start it"),
}


@pytest.mark.parametrize("fault", PASSING)
def test_a_fault_that_passes_is_asked_again(server: ChatServer, fault: str) -> None:
    server.fail(fault, times=1)
    assert read_answer(ask(rewriter(server.params()))[0], Rewriting) == GOOD
    assert len(server.requests) == 2


@pytest.mark.parametrize("fault", UNUSABLE)
def test_an_answer_without_the_form_is_asked_for_once_more(server: ChatServer, fault: str) -> None:
    server.fail(fault, times=1)
    assert read_answer(ask(rewriter(server.params()))[0], Rewriting) == GOOD
    assert len(server.requests) == TRIES


@pytest.mark.parametrize("fault", UNUSABLE)
def test_an_item_without_a_usable_answer_goes_without(server: ChatServer, fault: str) -> None:
    server.answers = lambda asked: FAULTS[fault] if "number 1" in asked.text else ANSWERS["rewrite"]
    bad = [read_answer(answer, Rewriting) for answer in ask(rewriter(server.params()), 3)]
    assert bad[0] == bad[2] == GOOD
    assert isinstance(bad[1], str) and bad[1] and "\n" not in bad[1]
    assert len(server.requests) == 2 + TRIES


def test_an_answer_that_was_cut_off_says_so_also_if_it_is_whole(server: ChatServer) -> None:
    server.answers = lambda asked: completion(ANSWERS["rewrite"], finish="length")
    assert read_answer(ask(rewriter(server.params()))[0], Rewriting) == "cut off after 20 tokens"


@pytest.mark.parametrize("fault", REFUSED)
def test_a_refused_item_goes_without_and_is_asked_for_once(server: ChatServer, fault: str) -> None:
    server.answers = lambda asked: FAULTS[fault] if "number 1" in asked.text else ANSWERS["rewrite"]
    assert contents(ask(rewriter(server.params()), 3))[1] == REFUSED[fault]
    assert len(server.requests) == 3


@pytest.mark.parametrize("fault", FATAL)
def test_a_fault_that_stays_ends_the_run_with_one_line(server: ChatServer, fault: str) -> None:
    server.fail(fault)
    what, hint = FATAL[fault]
    with pytest.raises(HearsightError, match=what) as caught:
        ask(rewriter(server.params(retries=0, timeout=0.2)), 8)
    assert hint in str(caught.value) and server.address in str(caught.value) and "\n" not in str(caught.value)
    assert len(server.requests) <= server.params().at_once, "no request is made after the fault"


def test_a_server_that_is_not_there_ends_the_run(server: ChatServer) -> None:
    with pytest.raises(HearsightError, match="does not answer") as caught:
        ask(rewriter(server.params(address="http://127.0.0.1:9/v1", retries=0)))
    assert "\n" not in str(caught.value)


def test_a_server_that_knows_no_schema_is_asked_without(server: ChatServer) -> None:
    server.script = lambda number, path, body: FAULTS["no schema"] if "response_format" in body else None
    server.answers = lambda asked: ANSWERS["rewrite"]
    answers = ask(rewriter(server.params(at_once=1)), 3)
    assert [read_answer(answer, Rewriting) for answer in answers] == [GOOD] * 3
    assert len(server.requests) == 4, "each item is asked once; the first also with the schema"


def test_a_model_without_usable_answers_ends_the_run_and_leaves_nothing(server: ChatServer, tmp_path: Path) -> None:
    server.fail("no JSON")
    cache = ResultCache(tmp_path)
    with pytest.raises(HearsightError, match="gives no usable answers"):
        cache.annotate(rewriter(server.params(at_once=1)), questions(50))
    assert len(server.requests) == MOST_UNUSABLE * TRIES
    assert not cache.read(rewriter(server.params()), list(questions(50)))


def test_what_was_answered_before_the_end_is_kept_and_not_asked_again(server: ChatServer, tmp_path: Path) -> None:
    server.script = lambda number, path, body: FAULTS["401"] if number == 4 else None
    cache = ResultCache(tmp_path)
    with pytest.raises(HearsightError, match="401"):
        cache.annotate(rewriter(server.params(at_once=1)), questions(8))
    assert len(server.requests) == 5
    answers = cache.annotate(rewriter(server.params(at_once=1)), questions(8))
    assert len(answers) == 8 and len(server.requests) == 5 + 4


def test_answers_in_flight_are_kept_when_another_ends_the_run(server: ChatServer, tmp_path: Path) -> None:
    refused = threading.Event()

    def answer(asked: Any) -> Any:
        if "number 0" in asked.text:
            refused.set()
            return FAULTS["401"]
        refused.wait(20)
        time.sleep(0.2)
        return ANSWERS["rewrite"]

    server.answers = answer
    cache = ResultCache(tmp_path)
    with pytest.raises(HearsightError, match="401"):
        cache.annotate(rewriter(server.params(at_once=2, timeout=30.0)), questions(8))
    assert list(cache.read(rewriter(server.params()), list(questions(8)))) == ["1"]


def test_a_budget_ends_the_run_before_it_is_passed(server: ChatServer, tmp_path: Path) -> None:
    server.answers = lambda asked: completion(ANSWERS["rewrite"], sent=0, answered=100)
    # An answer costs $0.01, and at most $0.04.
    params = server.params(prices=ServerPrices(output=100.0), most_tokens=400, budget=0.1, at_once=1)
    cache = ResultCache(tmp_path / "cache")
    with pytest.raises(HearsightError, match=r"budget of \$0.1: \$0.0700 are spent"):
        cache.annotate(rewriter(params, tmp_path / "run"), questions(50))
    assert len(server.requests) == 7 == len(cache.read(rewriter(params), list(questions(50))))


def test_requests_in_flight_count_against_the_budget(server: ChatServer) -> None:
    server.answers = lambda asked: completion(ANSWERS["rewrite"], sent=0, answered=400)
    params = server.params(prices=ServerPrices(output=100.0), most_tokens=400, budget=0.1, at_once=8)
    with pytest.raises(HearsightError, match="budget"):
        ask(rewriter(params), 8)
    assert len(server.requests) == 2


def test_the_processes_of_a_run_share_budget_and_stop(server: ChatServer, tmp_path: Path) -> None:
    params = server.params(prices=ServerPrices(output=1000.0), most_tokens=20, budget=0.07, at_once=1)
    ask(rewriter(params, tmp_path), 2)
    with pytest.raises(HearsightError, match="budget"):
        ask(rewriter(params, tmp_path), 2)
    assert len(server.requests) == 3
    with pytest.raises(HearsightError, match="budget"):
        ask(rewriter(params, tmp_path), 1)
    assert len(server.requests) == 3, "a run that has stopped asks nothing more"


def test_a_silent_server_is_given_up_within_the_patience_of_the_settings(server: ChatServer) -> None:
    server.fail("silent")
    begun = time.monotonic()
    with pytest.raises(HearsightError, match=r"2 tries .it answers too slowly"):
        ask(rewriter(server.params(timeout=0.2, retries=1)))
    assert time.monotonic() - begun < 20
