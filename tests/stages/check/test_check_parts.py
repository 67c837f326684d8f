"""A check in parts gives what the check of one table gives: warnings, message, and every page of Data Docs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from components.core.addresses import docs_folder
from components.core.errors import HearsightError
from components.core.records import OUTPUT_SCHEMAS
from components.stages.check import check, tallies
from tests.support import PROJECT
from tests.support.check.boundaries import Change, make
from tests.support.check.corruptions import CORRUPTIONS, put

WHOLE, BY_SHARD, BY_TWO = None, 1, 12
"""Rows of a part: all, one shard (values that must meet are then in parts of a row), and two of the three shards."""
QUICK = ("crawl-3", "dedup-1", "synthesize-0", "split-2", "evaluate_speech-1")
"""Digests of media, unique keys, draws, owners of splits, nulls: one of each kind; `make test-all` runs every case."""
CASES = [
    pytest.param(stage, change, id=f"{stage}-{number}", marks=[pytest.mark.slow] if f"{stage}-{number}" not in QUICK else [])
    for stage, cases in CORRUPTIONS.items()
    for number, change in enumerate([None, *(case[0] for case in cases)])
]


def outcome(root: Path, stage: str, rows: int | None) -> dict[str, Any]:
    """Everything that a check leaves and says."""
    try:
        passed = check(root, "english", stage, rows=rows)
        said = f"{passed.summary()} {passed.warnings}"
    except HearsightError as error:
        said = str(error)
    return {path.name: path.read_text() for path in sorted(docs_folder(root, "english", stage).glob("*.html"))} | {"said": said}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(PROJECT / "expectations", tmp_path / "expectations")
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize("stage, change", CASES)
def test_parts_give_the_results_of_one_table(root: Path, stage: str, change: Change | None) -> None:
    make(root, stage, change, shards=3)
    whole = outcome(root, stage, WHOLE)
    assert ("fails" in whole["said"]) == (change is not None)
    assert outcome(root, stage, BY_SHARD) == whole
    assert outcome(root, stage, BY_TWO) == whole


def test_a_share_of_bad_rows_is_that_of_the_whole_table(root: Path) -> None:
    """``mostly``: one bad row of three is too many, of twelve it is not."""
    suite = json.loads((root / "expectations" / "crawl.json").read_text())
    entry = {"type": "expect_column_values_to_be_between", "column": "width", "min_value": 100, "mostly": 0.9, "why": "x"}
    suite["tables"] = {"shards": [entry]}
    (root / "expectations" / "crawl.json").write_text(json.dumps(suite))
    make(root, "crawl", put(width=1), shards=3)
    whole = outcome(root, "crawl", WHOLE)
    assert "checked" in whole["said"]
    assert outcome(root, "crawl", BY_SHARD) == whole
    entry["mostly"] = 0.95
    (root / "expectations" / "crawl.json").write_text(json.dumps(suite))
    whole = outcome(root, "crawl", WHOLE)
    assert "1 of 12 rows" in whole["said"]
    assert outcome(root, "crawl", BY_SHARD) == whole


def test_an_expectation_of_the_whole_table_is_validated_on_the_whole_table(root: Path) -> None:
    suite = json.loads((root / "expectations" / "crawl.json").read_text())
    mean = {"type": "expect_column_mean_to_be_between", "column": "width", "min_value": 190, "max_value": 199, "why": "x"}
    middle = {"type": "expect_column_median_to_be_between", "column": "width", "min_value": 200, "max_value": 200, "why": "x"}
    suite["tables"] = {"shards": [mean, middle]}
    (root / "expectations" / "crawl.json").write_text(json.dumps(suite))
    make(root, "crawl", put(width=188), shards=3)
    whole = outcome(root, "crawl", WHOLE)
    assert "checked" in whole["said"]
    assert outcome(root, "crawl", BY_SHARD) == whole


@pytest.mark.long
def test_all_bad_rows_are_counted_and_the_first_are_listed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallies, "BAD_ROWS", 2)

    def narrow(rows: list[dict[str, Any]], ledger: list[dict[str, str]]) -> None:
        for width, row in enumerate(rows, -3):
            row["width"] = width

    make(root, "crawl", narrow, shards=3)
    said = outcome(root, "crawl", BY_SHARD)["said"]
    assert "4 of 12 rows: -3, -2, of the first 2 (key" in said


def test_every_stage_has_cases() -> None:
    assert {case.values[0] for case in CASES} == set(OUTPUT_SCHEMAS)
