"""The stage on a small output of several shards: one ledger row a post, and records that are whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.stages import extract_descriptions as stage
from components.stages.extract_descriptions.run import run as run_extract_descriptions
from tests.support import make_output, make_stage, row

PARAMS = stage.Params(language="pt", min_words=3, min_language=0.05)
SHARDS = [
    {"a": "Oi! #PraCegoVer: Mulher anda na praia. 🐶 #sol", "b": "Sem marca nenhuma.", "c": ""},
    {"d": "#PraCegoVer", "e": "#PraTodosVerem\nCard azul com letras brancas.\n.\nVenha!"},
    {"f": "#PraCegoVer: A woman walks along the beach with her dog."},
]
"""Captions by key, a shard each; the last keeps nothing."""


def described(root: Path, params: stage.Params = PARAMS) -> StageOutput:
    shards = [[row("crawl", key=key, alt=alt, owner="ana", post=key) for key, alt in shard.items()] for shard in SHARDS]
    source = make_output(root, "crawl", shards, dataset="portuguese")
    job = make_stage(root, "extract_descriptions", dataset="portuguese", params=params, inputs={"input": source})
    run_extract_descriptions(job)
    job.finish()
    return StageOutput(job.out)


def test_every_post_has_one_ledger_row_and_a_dropped_one_its_reason(tmp_path: Path) -> None:
    ledger = {entry["key"]: entry for entry in described(tmp_path).ledger().to_pylist()}
    assert {key: entry["rule"] for key, entry in ledger.items()} == {
        "a": "", "b": "no_tag", "c": "no_tag", "d": "nothing_after_tag", "e": "", "f": "not_portuguese",
    }  # fmt: skip
    assert all(entry["threshold"] for entry in ledger.values() if entry["rule"])
    assert ledger["a"]["verdict"] == ledger["e"]["verdict"] == "kept" and "describing" in ledger["a"]["detail"]


def test_records_keep_the_caption_as_posted_beside_the_description(tmp_path: Path) -> None:
    rows = {record["key"]: record for record in described(tmp_path).table().to_pylist()}
    assert {key: record["caption"] for key, record in rows.items()} == {
        "a": "Mulher anda na praia.", "e": "Card azul com letras brancas.",
    }  # fmt: skip
    assert rows["a"]["text"] == rows["a"]["alt"] == SHARDS[0]["a"] and rows["a"]["owner"] == "ana"
    assert rows["a"]["labels"] == rows["a"]["types"] == []
    assert rows["a"]["steps"][0]["step"] == "tag" and rows["a"]["steps"][-1]["after"] == rows["a"]["caption"]


def test_equal_inputs_give_equal_bytes(tmp_path: Path) -> None:
    first, second = described(tmp_path / "a"), described(tmp_path / "b")
    assert first.manifest == second.manifest


def test_a_changed_setting_changes_the_verdict(tmp_path: Path) -> None:
    output = described(tmp_path, PARAMS.model_copy(update={"min_words": 4}))
    ledger = {entry["key"]: entry for entry in output.ledger().to_pylist()}
    assert (ledger["a"]["rule"], ledger["a"]["value"], ledger["a"]["threshold"]) == (
        "too_short", "Mulher anda na praia.", "> 4 words",
    )  # fmt: skip


def test_a_language_without_lists_gives_a_one_line_error(tmp_path: Path) -> None:
    with pytest.raises(HearsightError, match="no lists for language 'xx'"):
        described(tmp_path, PARAMS.model_copy(update={"language": "xx"}))
