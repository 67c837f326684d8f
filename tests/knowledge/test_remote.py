"""Google's search against a server on loopback that speaks its documented form, and that misbehaves on demand."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
from components.knowledge.cascade import Knowledge
from components.knowledge.embedded import Embedded
from components.knowledge.google import GoogleKnowledgeGraph
from components.knowledge.kinds import Gate, HypernymAnswer
from components.knowledge.remote import KnowledgeSettings, Question
from components.knowledge.setup import check_order, make_sources, require_key
from components.knowledge.words import Words
from tests.support.knowledge.dictionary import extract
from tests.support.knowledge.knowledge_server import KEY, State, knowledge_server

FIELDS = ["name", "value", "itemListElement", "result", "@id", "@type"]
MIRA, OSTRAVA = Question("Mira Tolland", "PERSON"), Question("Ostrava Nova", "GPE")


@pytest.fixture
def server() -> Iterator[State]:
    with knowledge_server() as state:
        yield state


def source(state: State, folder: Path, **changed: Any) -> GoogleKnowledgeGraph:
    limits = {"google": state.url, "timeout": 1.0, "retries": 2, "backoff": 0.01, "connections": 2}
    settings = KnowledgeSettings.model_validate({**limits, **changed})
    return GoogleKnowledgeGraph(settings, ResultCache(folder / "annotations"), Words(extract()), Gate(extract()), KEY)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (MIRA, HypernymAnswer("actor", "google kg /m/0tol")),
        (Question("Mira Tolland", "WORK_OF_ART"), HypernymAnswer("film", "google kg /m/0fil")),
        (OSTRAVA, HypernymAnswer("city", "google kg /m/0ost")),
        (Question("Blue Anvils", "ORG"), HypernymAnswer("rock band", "google kg /g/1anv")),
        (Question("Ostrava Nova", "PERSON"), None),
        (Question("Nowhere", "GPE"), None),
    ],
)
def test_google_returns_the_word_of_the_type_with_its_identifier(
    server: State, tmp_path: Path, question: Question, expected: HypernymAnswer | None
) -> None:
    asked = source(server, tmp_path)
    asked.ask([question])
    assert asked.lookup(*question) == expected and asked.failures == 0


def test_answers_are_stored_also_those_of_unknown_names(server: State, tmp_path: Path) -> None:
    questions = [MIRA, OSTRAVA, Question("Nowhere", "GPE")]
    source(server, tmp_path).ask(questions)
    before = len(server.requests)
    again = source(server, tmp_path)
    assert len(again.ask(questions)) == 3 and len(server.requests) == before and again.requests == 0
    assert again.lookup(*MIRA) is not None and again.lookup("Nowhere", "GPE") is None


def test_google_is_asked_with_the_type_and_the_key(server: State, tmp_path: Path) -> None:
    source(server, tmp_path).ask([MIRA])
    form, agent = server.requests[0]["form"], server.requests[0]["agent"]
    assert (form["types"], form["key"], form["languages"], form["query"]) == (["Person"], [KEY], ["en"], ["Mira Tolland"])
    assert agent == "hearsight/0.1"


@pytest.mark.long
@pytest.mark.parametrize("trouble", ["429", "429 0", "503", "500", "garbage", "wrong", "slow"])
def test_transient_errors_are_retried(server: State, tmp_path: Path, trouble: str) -> None:
    server.script = [trouble]
    asked = source(server, tmp_path)
    asked.ask([MIRA])
    assert asked.lookup(*MIRA) is not None and asked.requests == 2 and asked.failures == 0


@pytest.mark.long
@pytest.mark.parametrize("trouble", ["429", "403", "500", "garbage", "wrong", "slow", "huge", "429 9999"])
def test_a_failure_gives_a_one_line_error_and_stores_no_answer(
    server: State, tmp_path: Path, trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.script = [trouble] * 3
    asked = source(server, tmp_path)
    with caplog.at_level(logging.WARNING):
        assert asked.ask([MIRA]) == {}
    assert asked.lookup(*MIRA) is None and asked.failures == 1
    assert asked.requests == (1 if trouble in ("403", "huge", "429 9999") else 3)
    output = [record.getMessage() for record in caplog.records]
    assert len(output) == 2 and output[0].startswith("knowledge: google") and "gave no answer to 1 of 1" in output[1]
    assert KEY not in caplog.text
    server.script = []
    later = source(server, tmp_path)
    later.ask([MIRA])
    assert later.lookup(*MIRA) is not None


def test_an_unreachable_service_is_skipped_and_the_next_source_answers(
    server: State, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.url = "http://127.0.0.1:9/nothing"
    asked = source(server, tmp_path, retries=0, connections=1)
    with caplog.at_level(logging.WARNING):
        asked.ask(Question(f"Name {n}", "GPE") for n in range(200))
    assert asked.requests == 3 and asked.closed and asked.failures == 200
    assert sum("not used any more" in record.getMessage() for record in caplog.records) == 1 and len(caplog.records) == 3
    cascade = Knowledge(extract(), [asked, Embedded(extract())])
    assert cascade.lookup("Paris", "GPE") == HypernymAnswer("city", "gazetteer")
    assert cascade.lookup("Mira Tolland", "PERSON") == HypernymAnswer("person", "type")


def test_a_rejected_key_stops_all_requests_and_appears_in_no_message(
    server: State, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked = source(server, tmp_path, connections=1)
    asked._key = "AIza-another-secret"  # type: ignore[attr-defined]
    with caplog.at_level(logging.DEBUG):
        asked.ask([MIRA, OSTRAVA])
    assert asked.requests == 1 and asked.closed == "HTTP 400 INVALID_ARGUMENT"
    assert "AIza" not in caplog.text
    assert not any(b"AIza" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_no_more_requests_are_under_way_than_connections(server: State, tmp_path: Path) -> None:
    server.delay = 0.03
    source(server, tmp_path, connections=3).ask(Question(f"Name {n}", "GPE") for n in range(15))
    assert server.most_at_once <= 3 and len(server.requests) == 15


@settings(max_examples=60)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=6),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
        max_leaves=12,
    )
)
def test_json_answers_are_never_reported_as_unreadable(body: Any) -> None:
    asked = source(State(), Path("/nonexistent"))
    try:
        answer = asked.parse(body)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return
    asked.choose(answer, *MIRA)


SETTINGS = KnowledgeSettings(
    index="",
    google="https://g.example",
    timeout=1.0,
    retries=0,
    backoff=0.0,
    connections=1,
)


@pytest.mark.parametrize(
    ("order", "changed", "message"),
    [
        (["embeded"], {}, "'embeded' is no source of knowledge"),
        (["embedded", "embedded"], {}, "named twice"),
        (["wikidata_index"], {}, "knowledge_settings.index: is empty"),
        (["google"], {"google": "ftp://x"}, "no web address"),
        (["embedded"], {"connections": 0}, "more than 0"),
        (["embedded"], {"retries": -1}, "not be negative"),
    ],
)
def test_unusable_settings_give_a_one_line_error(order: list[str], changed: dict[str, Any], message: str) -> None:
    with pytest.raises(HearsightError, match=message):
        check_order(order, SETTINGS.model_copy(update=changed), "params.yaml: english.hypernymize")


def test_google_needs_a_key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with pytest.raises(HearsightError, match="GOOGLE_API_KEY"):
        require_key(["embedded", "google"])
    require_key(["embedded"])


def test_sources_are_asked_in_the_order_of_the_parameter(tmp_path: Path) -> None:
    made = make_sources(["google", "embedded"], SETTINGS, extract(), ResultCache(tmp_path), tmp_path)
    assert [each.name for each in made] == ["google", "embedded"]
