"""Every output: a right one passes, three seeded corruptions are stopped by a message that says where to look."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from components.core.addresses import docs_folder
from components.core.errors import HearsightError
from components.core.records import OUTPUT_SCHEMAS
from components.stages.check import check
from tests.support import PROJECT
from tests.support.check.boundaries import Change, make, relist
from tests.support.check.corruptions import CORRUPTIONS, UNIQUE

SUITES = PROJECT / "expectations"


CASES = [
    pytest.param(stage, *case, id=f"{stage}-{case[2]}", marks=[pytest.mark.slow] if number else [])
    for stage, cases in CORRUPTIONS.items()
    for number, case in enumerate(cases)
]
"""`make test-long` takes one of each output."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(SUITES, tmp_path / "expectations")
    return tmp_path


def refused(root: Path, stage: str) -> str:
    with pytest.raises(HearsightError) as caught:
        check(root, "english", stage)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.long
@pytest.mark.parametrize("stage", list(OUTPUT_SCHEMAS))
def test_a_valid_output_passes_and_its_data_docs_have_equal_bytes_each_time(root: Path, stage: str) -> None:
    make(root, stage)
    passed = check(root, "english", stage)
    assert passed.output == f"english/{stage}"
    assert len(passed.passed) >= 6
    first = pages(passed.docs.parent)
    assert "index.html" in first
    check(root, "english", stage)
    assert pages(passed.docs.parent) == first


def pages(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.long
@pytest.mark.parametrize("stage, change, file, column, expectation", CASES)
def test_a_seeded_corruption_is_stopped_and_named(
    root: Path, stage: str, change: Change, file: str, column: str, expectation: str
) -> None:
    make(root, stage, change)
    message = refused(root, stage)
    assert f"data/english/{stage}/{file}: " in message
    assert f"column '{column}'" in message
    assert expectation in message
    page = re.search(r"see (reports/data_docs/\S+\.html)", message)
    assert page and (root / page[1]).is_file()


@pytest.mark.parametrize("stage", list(OUTPUT_SCHEMAS))
def test_every_boundary_has_at_least_three_corruptions(stage: str) -> None:
    assert len(CORRUPTIONS[stage]) >= 3


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def flip(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1] + b"\x00")


def add(path: Path) -> None:
    (path.parent / "extra.parquet").write_bytes(b"?")


@pytest.mark.parametrize("name", ["shards/00000.parquet", "ledger/00001.parquet", "media/00000.tar"])
@pytest.mark.parametrize("damage", [Path.unlink, cut, flip, add], ids=["missing", "cut", "flipped", "extra"])
def test_a_file_changed_by_hand_is_named_with_its_page_and_a_hint(
    root: Path, name: str, damage: Callable[[Path], object]
) -> None:
    folder = make(root, "crawl")
    path = folder / name
    if damage is flip and path.read_bytes()[-1] == 0:
        path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    else:
        damage(path)
    message = refused(root, "crawl")
    assert str(Path("data/english/crawl", name).parent) in message
    assert "dvc repro -f -s crawl@english" in message
    assert (docs_folder(root, "english", "crawl") / "integrity.html").is_file()


def test_a_null_where_the_record_allows_none_is_named(root: Path) -> None:
    path = make(root, "crawl") / "shards/00001.parquet"
    table = pq.read_table(path)
    nulled = table.set_column(table.schema.get_field_index("alt"), pa.field("alt", pa.string()), pa.array([None, *"abc"]))
    pq.write_table(nulled, path)
    relist(root, "crawl")
    assert "shards/00001.parquet: column 'alt' fails column_is_never_null" in refused(root, "crawl")


def test_a_missing_or_mistyped_column_is_named(root: Path) -> None:
    path = make(root, "crawl") / "shards/00001.parquet"
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["width"]), path)
    relist(root, "crawl")
    assert "shards/00001.parquet: column 'width' fails schema_matches_record: is missing" in refused(root, "crawl")
    widened = table.column("width").cast(pa.float64())
    pq.write_table(table.set_column(table.schema.get_field_index("width"), "width", widened), path)
    relist(root, "crawl")
    assert "column 'width' fails schema_matches_record: it holds double, not int32" in refused(root, "crawl")


@pytest.mark.parametrize(
    "suite, expected",
    [
        ('{"stage": "split"', "is not a suite"),
        ('{"stage": "crawl", "tables": {}}', "is the suite of 'crawl', not of 'split'"),
        (
            '{"stage": "split", "tables": {"shards": [{"type": "expect_magic", "why": "x"}]}}',
            "there is no expectation 'expect_magic'",
        ),
        ('{"stage": "split", "tables": {"shards": [{"type": "expect_magic"}]}}', "shards[0] has no why"),
        ('{"stage": "split", "tables": {"by_colour": []}}', "names a table 'by_colour'"),
        (
            '{"stage": "split", "tables": {"shards": [{"type": "' + UNIQUE + '", "why": "x", "column": "kee"}]}}',
            "expect_column_values_to_be_unique cannot be run on shards",
        ),
        (
            '{"stage": "split", "tables": {"shards": [{"type": "' + UNIQUE + '", "why": "x", "colum": "key"}]}}',
            "has invalid arguments",
        ),
    ],
)
def test_a_faulty_suite_is_named_and_not_the_data(root: Path, suite: str, expected: str) -> None:
    make(root, "split")
    (root / "expectations" / "split.json").write_text(suite)
    message = refused(root, "split")
    assert "expectations/split.json" in message
    assert expected in message


def test_every_suite_gives_reasons_and_covers_each_table_it_names() -> None:
    for stage in OUTPUT_SCHEMAS:
        suite = json.loads((SUITES / f"{stage}.json").read_text())
        assert suite["stage"] == stage
        assert all(entry["why"] for entries in suite["tables"].values() for entry in entries)
        assert all(suite["tables"].values())


@pytest.mark.parametrize("file", ["expectations/crawl.json", "data/english/crawl/manifest.json"])
def test_what_changes_while_it_is_checked_passes_no_check(root: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    from components.stages.check import suites

    make(root, "crawl")
    real = suites.validate

    def validate(*arguments: Any) -> Any:
        result = real(*arguments)
        (root / file).write_text((root / file).read_text() + "\n")
        return result

    monkeypatch.setattr(suites, "validate", validate)
    with pytest.raises(HearsightError, match=f"{file}: changed while it was checked"):
        check(root, "english", "crawl")
