"""The concept filter: rare concepts drop their captions, and the count is over all shards."""

from __future__ import annotations

from pathlib import Path

import pytest

from components import hypernymize as stage
from components.core.boundary import Boundary
from components.hypernymize.concepts import resolve
from tests.hypernymize.sources import sources
from tests.providers.dictionary import EXTRACT, knowledge
from tests.support import make_boundary, make_stage, row


@pytest.fixture(autouse=True)
def dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))


def run(root: Path, shards: list[list[str]], **params: object) -> Boundary:
    settings = {"min_words": 2, "stated_role": False, "concept_level": "noun", "min_concept_count": 2, **sources()} | params
    rows = [
        [row("filter", key=f"{n}.{m}", text=text, alt=text) for m, text in enumerate(texts)] for n, texts in enumerate(shards)
    ]
    job = make_stage(
        root, "hypernymize", params=stage.Params.model_validate(settings), inputs={"input": make_boundary(root, "filter", rows)}
    )
    stage.run(job)
    job.finish()
    return Boundary(job.out)


def test_a_noun_stands_for_itself_and_a_kind_gathers_the_rare() -> None:
    captions = [["zebu"], ["cow"], ["dog"], ["dog"], ["umbrella"]]
    assert resolve(captions, "noun", 2, knowledge()) == {"cow": "", "dog": "dog", "umbrella": "", "zebu": ""}
    by_kind = resolve(captions, "kind", 2, knowledge())
    assert by_kind["zebu"] == "bovine" and by_kind["dog"] == "dog" and by_kind["umbrella"] == ""


def test_a_noun_said_twice_in_a_caption_counts_once() -> None:
    assert resolve([["dog", "dog"]], "noun", 2, knowledge()) == {"dog": ""}


def test_counts_are_over_all_shards_and_each_concept_must_be_common(tmp_path: Path) -> None:
    done = run(tmp_path, [["A dog on a beach.", "A cat on a beach."], ["A dog on a beach."]])
    assert done.table().column("caption").to_pylist() == ["a dog on a beach.", "a dog on a beach."]
    (rare,) = [entry for entry in done.ledger().to_pylist() if entry["verdict"] == "dropped"]
    assert (rare["key"], rare["rule"], rare["value"], rare["threshold"]) == ("0.1", "rare_concept", "cat", ">= 2 captions")


def test_records_dropped_by_the_rewriting_stay_in_the_ledger(tmp_path: Path) -> None:
    done = run(tmp_path, [["A dog.", "A dog.", "Menu for “Flip an Image”"]])
    assert sorted(done.ledger().column("rule").to_pylist()) == ["", "", "too_short"]


def test_steps_and_types_are_in_the_record(tmp_path: Path) -> None:
    first = run(tmp_path, [["An Indian dog.", "A dog."]]).table().to_pylist()[0]
    assert first["types"] == ["dog"] and [step["step"] for step in first["steps"]] == ["modifiers", "articles"]


def test_an_empty_shard_stays_an_empty_shard(tmp_path: Path) -> None:
    done = run(tmp_path, [[], ["A dog.", "A dog."]])
    assert [entry.rows for entry in done.manifest.shards] == [0, 2]
