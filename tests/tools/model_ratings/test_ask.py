"""A model's ratings: what it is shown, the file it leaves, what a second call asks, and how the chain reads it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.model_server.client import Question
from components.model_server.prompts import load_prompt
from components.ratings.items import RatingItems
from components.stages.import_ratings import Params
from components.stages.import_ratings.run import run
from components.tools.model_ratings import ask_model
from tests.support import PROJECT, make_stage
from tests.support.command import hearsight
from tests.support.model_server.chat_server import FAULTS, MODEL, Asked, ChatServer, completion
from tests.support.model_server.served_models import make_vision_model, serve_model
from tests.support.ratings.made_items import make_items

DIGEST = load_prompt("judge").digest[:8]


def verdict(asked: Asked) -> dict[str, str]:
    """GOOD for captions of even numbers."""
    return {"verdict": "GOOD" if int(asked.text.rstrip('"')[-1]) % 2 == 0 else "BAD"}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(verdict).running() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, server: ChatServer) -> Path:
    make_items(tmp_path)
    write_server(tmp_path, server)
    return tmp_path


def write_server(root: Path, server: ChatServer, **changed: Any) -> None:
    block = {"address": server.address, "vision": MODEL, "timeout": 2.0, "retries": 0} | changed
    (root / "params.yaml").write_text(json.dumps({"server": block}))


def read(root: Path) -> dict[str, dict[str, str]]:
    with (root / "ratings/english" / f"model-{MODEL}.csv").open() as file:
        return {row["item"]: row for row in csv.DictReader(file)}


def test_each_item_with_a_text_is_shown_as_people_see_it(project: Path, server: ChatServer) -> None:
    told = ask_model(project, "english")
    items = RatingItems.open(project / "data/english/build_rating_items")
    with_text = {key: items.item(key) for key in items.keys if not items.item(key)["audio_sha256"]}
    assert {(asked.image, asked.text) for asked in server.asked()} == {
        (items.image(key), load_prompt("judge").ask({"caption": record["caption"]})) for key, record in with_text.items()
    }
    assert (told["rated"], told["speech_left_out"], told["unanswered"], told["requests"]) == (10, 2, 0, 10)
    assert told["sent_to"] == "this machine"
    rated = read(project)
    assert set(rated) == set(with_text)
    assert {row["rater"] for row in rated.values()} == {f"model:{MODEL}.{DIGEST}"} and {
        row["source"] for row in rated.values()
    } == {"model"}
    assert all((row["verdict"] == "GOOD") == (int(with_text[key]["caption"][-1]) % 2 == 0) for key, row in rated.items())


def test_a_second_call_asks_only_the_rest(project: Path, server: ChatServer) -> None:
    server.script = lambda number, path, body: FAULTS["401"] if number == 4 else None
    write_server(project, server, at_once=1)
    with pytest.raises(HearsightError, match="401"):
        ask_model(project, "english")
    assert len(read(project)) == 4, "what was answered before the end is in the file"
    assert ask_model(project, "english")["requests"] == 6 and len(server.requests) == 5 + 6 and len(read(project)) == 10
    again = (project / "ratings/english" / f"model-{MODEL}.csv").read_bytes()
    assert ask_model(project, "english")["requests"] == 0
    assert (project / "ratings/english" / f"model-{MODEL}.csv").read_bytes() == again


def test_an_item_without_a_usable_answer_is_not_rated(project: Path, server: ChatServer) -> None:
    server.answers = lambda asked: FAULTS["prompt injection obeyed"] if "number 3" in asked.text else verdict(asked)
    told = ask_model(project, "english")
    assert (told["rated"], told["unanswered"]) == (8, 2)


def test_another_model_has_a_file_and_a_name_of_its_own(project: Path, server: ChatServer) -> None:
    server.script = lambda number, path, body: completion({"verdict": "BAD"})
    server.models.append("hub.example/Judge 7B@q4")
    told = ask_model(project, "english", "hub.example/Judge 7B@q4")
    assert told["file"] == "ratings/english/model-hub.example-Judge-7B-q4.csv"
    text = (project / str(told["file"])).read_text()
    assert f"model:hub.example-Judge-7B-q4.{DIGEST}" in text and "@" not in text


def test_the_chain_imports_them_as_no_people(project: Path, server: ChatServer) -> None:
    ask_model(project, "english")
    [first, *_] = read(project)
    (project / "ratings/english/people.csv").write_text(f"item,rater,verdict\n{first},a,GOOD\n{first},b,BAD\n")
    # A spreadsheet has dropped the source.
    (project / "ratings/english/other.csv").write_text(f"item,rater,verdict\n{first},model:other.11111111,GOOD\n")
    inputs = {"input": StageOutput(project / "data/english/build_rating_items")}
    stage = make_stage(project, "import_ratings", params=Params(), inputs=inputs)
    run(stage)
    stage.finish()
    metrics = {name: value for name, value, _ in stage.metrics}
    assert metrics == {"ratings": 2, "raters": 2, "items_rated": 1, "ratings_by_models": 11}
    sources = [(row["rater"], row["source"]) for row in StageOutput(stage.out).table().to_pylist()]
    assert {source for rater, source in sources if rater.startswith("model:")} == {"model"}
    assert {source for rater, source in sources if not rater.startswith("model:")} == {"csv"}


def test_the_command_prints_what_was_rated_and_where_images_went(project: Path, server: ChatServer) -> None:
    for name in ("components", "dvc.yaml"):
        (project / name).symlink_to(PROJECT / name)
    done = hearsight("ratings", "ask", "-d", "english", cwd=project)
    assert done.returncode == 0, done.stderr
    told = done.stdout.decode()
    assert "10" in told and "this machine" in told and "dvc repro evaluate_ratings@english" in told
    assert "10 of 10" in done.stderr.decode(), "the progress"


def test_a_model_that_is_not_named_is_one_clear_line(project: Path, server: ChatServer) -> None:
    write_server(project, server, vision="")
    with pytest.raises(HearsightError, match=r"server.vision: names no model"):
        ask_model(project, "english")
    assert not server.requests and not (project / "ratings").exists()


@pytest.mark.long
def test_transformers_serve_judges(project: Path, server: ChatServer) -> None:
    items = RatingItems.open(project / "data/english/build_rating_items")
    keys = [key for key in items.keys if not items.item(key)["audio_sha256"]]
    prompt, lessons = load_prompt("judge"), []
    for key in keys:
        caption = items.item(key)["caption"]
        answer = json.dumps({"verdict": "GOOD" if int(caption[-1]) % 2 == 0 else "BAD"})
        lessons.append((prompt, Question({"caption": caption}, items.image(key)), answer))
    folder = make_vision_model(project / "judge", lessons)
    with serve_model(folder) as address:
        write_server(project, server, address=address, vision=str(folder), timeout=60.0)
        told = ask_model(project, "english")
    assert told["rated"] == 10 and told["good"] == sum('"GOOD"' in answer for _, _, answer in lessons)
