"""The test split is cleaned by raters; train and validation are not, and the votes are in the ledger."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import HearsightError
from components.core.params import parse_settings
from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.stages.split import Params
from components.stages.split.run import run
from tests.support import make_output, make_stage, row

KEYS = [f"{number:016x}" for number in range(60)]
KINDS = [{"by": "group"}, {"by": "text"}, {"by": "owner", "sides": "ours"}, {"by": "published", "lists": {"train": "*"}}]


def split(root: Path, ratings: list[dict[str, Any]] | None, dataset: str = "english_rated", **settings: Any) -> Stage:
    records = [row("dedup", key=key, group=key, caption=f"caption {key}", image_sha256=key, owner=key) for key in KEYS]
    inputs = {"input": make_output(root, "dedup", [records[::2], records[1::2]])}
    if ratings is not None:
        inputs["ratings"] = make_output(root, "evaluate_ratings", [ratings])
    block = {"validation": 0.2, "test": 0.5} | settings
    stage = make_stage(root, "split", dataset, parse_settings(Params, block, f"params.yaml: {dataset}.split"), inputs)
    run(stage)
    stage.finish()
    return stage


def rated(*votes: tuple[str, int, int]) -> list[dict[str, Any]]:
    """Rated items: record, GOOD verdicts, all verdicts."""
    return [
        row("evaluate_ratings", key=key, records=[key], raters=3, ratings=answered, good=good) for key, good, answered in votes
    ]


def splits(stage: Stage) -> dict[str, str]:
    return {r["key"]: r["split"] for r in StageOutput(stage.out).table(["key", "split"]).to_pylist()}


def ledger(stage: Stage) -> dict[str, dict[str, str]]:
    return {r["key"]: r for r in StageOutput(stage.out).ledger().to_pylist()}


@pytest.mark.parametrize("by", ["group", "text", "owner"])
def test_bad_test_records_are_dropped_and_nothing_else_changes(tmp_path: Path, by: str) -> None:
    kind = {"by": by} | ({"sides": "ours"} if by == "owner" else {})
    before = splits(split(tmp_path, None, "english", **kind))
    votes = rated(*((key, number % 4, 3) for number, key in enumerate(KEYS)))
    stage = split(tmp_path, votes, min_good=2, **kind)
    refused = {key for number, key in enumerate(KEYS) if number % 4 < 2 and before[key] == "test"}
    assert refused and splits(stage) == {key: name for key, name in before.items() if key not in refused}
    rows = ledger(stage)
    for number, key in enumerate(KEYS):
        told = f"{number % 4} of 3 GOOD"
        if key in refused:
            assert (rows[key]["rule"], rows[key]["value"], rows[key]["threshold"]) == ("rated_bad", told, "2")
        else:
            assert rows[key]["verdict"] == "kept" and (told in rows[key]["detail"]) == (before[key] == "test")
    metrics = {name: value for name, value, _ in stage.metrics}
    assert metrics["test_dropped_rated_bad"] == len(refused)
    assert metrics["records_test"] == Counter(splits(stage).values())["test"]


@pytest.mark.parametrize(("unrated", "stay"), [("keep", True), ("drop", False)])
def test_unrated_test_records_stay_or_go_by_a_setting(tmp_path: Path, unrated: str, stay: bool) -> None:
    before = splits(split(tmp_path, None, "english"))
    test = [key for key in KEYS if before[key] == "test"]
    stage = split(tmp_path, rated((test[0], 3, 3)), min_good=2, unrated=unrated)
    after = splits(stage)
    assert after[test[0]] == "test" and {key in after for key in test[1:]} == {stay}
    assert {key for key in before if before[key] != "test"} <= set(after)
    assert stay or ledger(stage)[test[1]]["rule"] == "unrated"


def test_without_a_threshold_ratings_change_nothing(tmp_path: Path) -> None:
    plain, with_ratings = split(tmp_path, None, "english"), split(tmp_path, rated((KEYS[0], 0, 3)))
    assert StageOutput(plain.out).digest == StageOutput(with_ratings.out).digest


def test_a_threshold_without_ratings_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(HearsightError, match=r"english_rated\.split\.min_good: needs ratings, and the split has none — name an"):
        split(tmp_path, None, min_good=2)
    with pytest.raises(HearsightError, match="evaluate_ratings holds no rated caption of a record"):
        split(tmp_path, [row("evaluate_ratings", key=KEYS[0], records=[])], min_good=2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_negative_threshold_is_refused_for_every_kind_of_split(tmp_path: Path, kind: dict[str, Any]) -> None:
    with pytest.raises(HearsightError, match="min_good: -1 is too small — give 0 or more"):
        parse_settings(Params, kind | {"min_good": -1}, "params.yaml: english.split")
