"""Sources beyond the embedded one, through the stage: asked once, before the rewriting, and reproducible from what was kept."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.core.digests import sha256_bytes, sha256_file
from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.knowledge.wikidata.build import build_index
from components.language.parser import EnglishParser
from components.stages import hypernymize as stage
from components.stages.hypernymize.run import run as run_hypernymize
from tests.stages.hypernymize.sources import sources
from tests.support import make_output, make_stage, row
from tests.support.knowledge import wikidata_dump
from tests.support.knowledge.dictionary import EXTRACT
from tests.support.knowledge.knowledge_server import KEY, State, knowledge_server

TEXTS = [
    ["Mira Tolland walks a dog on the beach.", "A dog and Mira Tolland on the beach."],
    ["Barack Obama walks a dog on the beach.", "A cat on the beach."],
]
ACTOR, PERSON = "actor walks a dog on the beach.", "person walks a dog on the beach."


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The annotations of the texts: parsed once, so that no worker of a run loads the parser again."""
    folder = tmp_path_factory.mktemp("annotations")
    texts = {sha256_bytes(text.encode()): text for shard in TEXTS for text in shard}
    ResultCache(folder).annotate(EnglishParser(), texts)
    return folder


@pytest.fixture(autouse=True)
def world(monkeypatch: pytest.MonkeyPatch, parsed: Path, tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "other"):
        shutil.copytree(parsed, root / ".hearsight" / "annotations")
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)


@pytest.fixture
def server() -> Iterator[State]:
    with knowledge_server() as state:
        yield state


def run(root: Path, *order: str, **settings: Any) -> StageOutput:
    return StageOutput(run_job(root, *order, **settings).out)


def people(root: Path, *order: str, **settings: Any) -> dict[str, float]:
    return {name: value for name, value, _ in run_job(root, *order, **settings).metrics if name.startswith("people")}


def run_job(root: Path, *order: str, **settings: Any) -> Stage:
    params = {
        "min_words": 2,
        "min_name_signals": 2,
        "concept_level": "noun",
        "min_concept_count": 1,
        **sources(*order, **settings),
    }
    rows = [[row("filter", key=f"{n}.{m}", text=text, alt=text) for m, text in enumerate(texts)] for n, texts in enumerate(TEXTS)]
    inputs = {"input": make_output(root, "filter", rows)}
    job = make_stage(root, "hypernymize", params=stage.Params.model_validate(params), inputs=inputs)
    run_hypernymize(job)
    job.finish()
    return job


def captions(output: StageOutput) -> list[str]:
    return [text for ref in output.shards for text in ref.read(["caption"]).column("caption").to_pylist()]


def reasons(output: StageOutput) -> str:
    steps = [step for ref in output.shards for row in ref.read(["steps"]).column("steps").to_pylist() for step in row]
    return " ".join(step["reason"] for step in steps)


def test_google_gives_the_word_and_the_record_names_it(server: State, tmp_path: Path) -> None:
    made = run(tmp_path, "google", "embedded", url=server.url)
    assert captions(made)[0] == ACTOR and captions(made)[2] == PERSON
    assert "Mira Tolland (PERSON) is an actor, says google kg /m/0tol" in reasons(made)
    assert not any(KEY.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_name_is_requested_once_and_an_equal_run_sends_no_request(server: State, tmp_path: Path) -> None:
    first = sha256_file(run(tmp_path, "google", "embedded", url=server.url).path / "manifest.json")
    asked = len(server.requests)
    assert sorted(seen["form"]["query"][0] for seen in server.requests) == ["Barack Obama", "Mira Tolland"]
    assert sha256_file(run(tmp_path, "google", "embedded", url=server.url).path / "manifest.json") == first
    assert len(server.requests) == asked


def test_a_service_is_asked_only_for_names_unknown_to_earlier_sources(server: State, tmp_path: Path) -> None:
    index = tmp_path / "index"
    build_index(wikidata_dump.write_dump(tmp_path / "d.json"), index)
    run(tmp_path, "wikidata_index", "google", "embedded", url=server.url, index=str(index))
    assert {seen["form"]["query"][0] for seen in server.requests} == {"Barack Obama"}


def test_a_local_index_needs_no_network(tmp_path: Path) -> None:
    build_index(wikidata_dump.write_dump(tmp_path / "d.json"), tmp_path / "index")
    made = run(tmp_path, "wikidata_index", "embedded", index=str(tmp_path / "index"))
    assert captions(made)[0] == ACTOR and "says wikidata Q20" in reasons(made)


def test_another_index_changes_the_answer(tmp_path: Path) -> None:
    index = tmp_path / "index"
    build_index(wikidata_dump.write_dump(tmp_path / "d.json", wikidata_dump.CLASSES), index)
    assert captions(run(tmp_path, "wikidata_index", "embedded", index=str(index)))[0] == PERSON
    build_index(wikidata_dump.write_dump(tmp_path / "d.json"), index)
    assert captions(run(tmp_path, "wikidata_index", "embedded", index=str(index)))[0] == ACTOR


def test_after_an_outage_embedded_answers_are_used_until_the_next_run(
    server: State, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.script = ["503", "503"]
    with caplog.at_level(logging.WARNING):
        during = captions(run(tmp_path, "google", "embedded", url=server.url))
    assert during[0] == PERSON and "google: HTTP 503" in caplog.text
    assert during == captions(run(tmp_path / "other", "embedded"))
    assert captions(run(tmp_path, "google", "embedded", url=server.url))[0] == ACTOR


def test_a_run_counts_the_people_that_became_person_and_says_so(
    server: State, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert people(tmp_path, "embedded") == {"people": 3.0, "people_without_hypernym": 3.0}
    said = capsys.readouterr().err
    assert said.count("no source knows people") == 1 and "english/hypernymize" in said
    assert people(tmp_path, "google", "embedded", url=server.url) == {"people": 3.0, "people_without_hypernym": 1.0}
    assert "no source knows people" not in capsys.readouterr().err


def test_the_second_parse_of_a_misleading_capital_is_cached(tmp_path: Path) -> None:
    texts = ["House under the cliffs.", "A cat on the beach."]
    inputs = {"input": make_output(tmp_path, "filter", [[row("filter", key=text, text=text, alt=text) for text in texts]])}
    params = {
        "min_words": 2,
        "min_name_signals": 2,
        "concept_level": "noun",
        "min_concept_count": 1,
        **sources(),
    }
    job = make_stage(tmp_path, "hypernymize", params=stage.Params.model_validate(params), inputs=inputs)
    run_hypernymize(job)
    job.finish()
    assert captions(StageOutput(job.out)) == ["house under the cliffs.", "a cat on the beach."]
    cache = ResultCache(tmp_path / ".hearsight" / "annotations")
    cache.annotate(EnglishParser(), {sha256_bytes(text.encode()): text for text in [*texts, "house under the cliffs."]})
    assert not cache.computed


def test_a_missing_index_and_a_missing_key_give_a_one_line_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HearsightError, match="there is no index"):
        run(tmp_path, "wikidata_index", index=str(tmp_path / "none"))
    monkeypatch.delenv("GOOGLE_API_KEY")
    with pytest.raises(HearsightError, match="GOOGLE_API_KEY"):
        run(tmp_path, "google")
