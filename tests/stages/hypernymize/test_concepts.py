"""The concept filter: rare concepts drop their captions, and the count is over all shards."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.stages import hypernymize as stage
from components.stages.hypernymize.rarity import Counts, concepts_tsv, count, minimum_counts, reaches, resolve
from components.stages.hypernymize.run import run as run_hypernymize
from tests.stages.hypernymize.sources import sources
from tests.support import make_output, make_stage, row
from tests.support.knowledge.dictionary import EXTRACT, knowledge


@pytest.fixture(autouse=True)
def dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))


KNOWN = knowledge()


def concepts(captions: list[list[str]], level: str, least: int) -> dict[str, str]:
    return resolve(count(captions, level, KNOWN), level, least, KNOWN)


def run(root: Path, shards: list[list[str]], **params: object) -> StageOutput:
    return StageOutput(run_stage(root, shards, **params).out)


def run_stage(root: Path, shards: list[list[str]], **params: object) -> Stage:
    settings = {
        "min_words": 2,
        "min_name_signals": 2,
        "concept_level": "noun",
        "min_concept_count": 2,
        **sources(),
    } | params
    rows = [
        [row("filter", key=f"{n}.{m}", text=text, alt=text) for m, text in enumerate(texts)] for n, texts in enumerate(shards)
    ]
    job = make_stage(
        root, "hypernymize", params=stage.Params.model_validate(settings), inputs={"input": make_output(root, "filter", rows)}
    )
    # The code is the project's; what is exported is the test's own.
    exported: list[tuple[str, bytes]] = []
    job.export = lambda name, data: exported.append((name, data))  # type: ignore[method-assign]
    run_hypernymize(job)
    job.finish()
    assert [name for name, _ in exported] == ["concepts.csv"]
    (root / "concepts.csv").write_bytes(exported[0][1])
    return job


def test_frequent_nouns_are_their_own_kind_and_rare_ones_share_a_hypernym() -> None:
    captions = [["zebu"], ["cow"], ["dog"], ["dog"], ["umbrella"]]
    assert concepts(captions, "noun", 2) == {"cow": "", "dog": "dog", "umbrella": "", "zebu": ""}
    by_kind = concepts(captions, "kind", 2)
    assert by_kind["zebu"] == "bovine" and by_kind["dog"] == "dog" and by_kind["umbrella"] == ""


def test_a_repeated_noun_in_a_caption_counts_once() -> None:
    assert concepts([["dog", "dog"]], "noun", 2) == {"dog": ""}


NOUNS = st.lists(st.lists(st.sampled_from(["dog", "cat", "zebu", "cow", "umbrella", "person", "nonsenseword"]), max_size=4))


@given(NOUNS, NOUNS, st.sampled_from(["noun", "kind"]), st.integers(1, 4))
def test_counts_of_parts_add_up_to_the_counts_of_the_whole(first, second, level, least):
    whole, parts = count(first + second, level, KNOWN), Counts()
    for part in (first, second):
        counted = count(part, level, KNOWN)
        parts.add(counted.captions, counted.nouns)
    assert parts == whole
    resolved, reach = resolve(parts, level, least, KNOWN), reaches(parts, level, KNOWN)
    assert {noun for captions in first + second for noun in captions} == set(resolved)
    for noun, concept in resolved.items():
        assert bool(concept) == (reach[noun] >= least)  # the curve and the filter say the same of every minimum count
        assert not concept or parts.captions[concept] >= least


@given(NOUNS, st.sampled_from(["noun", "kind"]), st.integers(1, 4))
def test_the_list_holds_every_noun_once_with_its_count(captions, level, least):
    counts = count(captions, level, KNOWN)
    resolved = resolve(counts, level, least, KNOWN)
    header, *rows = [line.split("\t") for line in concepts_tsv(counts, resolved).splitlines()]
    assert header == ["concept", "captions", "verdict", "members"]
    assert [row[0] for row in rows if row[2] == "dropped"] == sorted(
        (noun for noun, concept in resolved.items() if not concept), key=lambda noun: (-counts.captions[noun], noun)
    )
    kept = {row[0]: row for row in rows if row[2] == "kept"}
    assert set(kept) == set(resolved.values()) - {""} and all(int(row[1]) >= least for row in kept.values())
    members = {member.rsplit(" ", 1)[0]: row[0] for row in kept.values() for member in row[3].split("; ") if member}
    assert members == {noun: concept for noun, concept in resolved.items() if concept not in ("", noun)}


def test_the_curve_has_round_counts_and_the_current_one():
    assert minimum_counts(101, 300) == [1, 2, 5, 10, 20, 50, 100, 101, 200]
    assert minimum_counts(3, 1) == [1, 3]


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


def test_an_appended_shard_is_the_only_one_that_is_rewritten_and_counted(tmp_path: Path) -> None:
    old = [["A dog on a beach.", "A cat on a beach."], ["A dog on a beach."]]
    first = run_stage(tmp_path, old)
    steps = ("concepts", "count", "people", "reach", "rewrite")
    assert first.cache_summary() == dict.fromkeys(steps, "0 of 2")
    before = StageOutput(first.out).file("concepts.tsv").read_text()
    second = run_stage(tmp_path, [*old, ["A cat on a beach.", "An umbrella."]])
    assert second.cached["rewrite"] == second.cached["count"] == 2 and second.done["rewrite"] == second.done["count"] == 3
    assert before != StageOutput(second.out).file("concepts.tsv").read_text()
    whole = run(tmp_path / "whole", [*old, ["A cat on a beach.", "An umbrella."]])
    assert StageOutput(second.out).manifest.to_bytes() == whole.manifest.to_bytes()
    assert run_stage(tmp_path, old).cache_summary() == dict.fromkeys(steps, "2 of 2")


def test_kept_and_dropped_types_are_a_file_of_the_output(tmp_path: Path) -> None:
    done = run(tmp_path, [["A dog on a beach.", "A cat on a beach."], ["A dog on a beach."]])
    assert [entry.path for entry in done.manifest.files] == ["concepts.tsv"]
    assert done.file("concepts.tsv").read_text() == (
        "concept\tcaptions\tverdict\tmembers\nbeach\t3\tkept\t\ndog\t2\tkept\t\ncat\t1\tdropped\t\n"
    )
    assert (tmp_path / "concepts.csv").read_text().splitlines() == [
        "min_count,captions,share,concepts,present", "1,3,1.0000,3,no", "2,2,0.6667,2,yes",
    ]  # fmt: skip
