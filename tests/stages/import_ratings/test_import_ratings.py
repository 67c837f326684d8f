"""The canonical table: files of several tools as one, without names, and equal for equal files."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.stages.check import check
from components.stages.import_ratings import Params
from components.stages.import_ratings.run import run
from tests.support import PROJECT, make_output, make_stage
from tests.support.ratings.rated import item, key, use

ITEMS = [item(n, use("dataset", "english", f"r{n}", rank=0)) for n in range(3)]
CSV = f"item,rater,verdict,time\n{key(0)},a,1,2026-01-01\n{key(0)},b,0,2026-01-01\n{key(1)},a,good,\n"
OTHER = f"item,rater,verdict,source\n{key(2)},12,BAD,label_studio\n"


def imported(root: Path, **files: str) -> Stage:
    folder = root / "ratings/english"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    stage = make_stage(
        root, "import_ratings", params=Params(), inputs={"input": make_output(root, "build_rating_items", [ITEMS])}
    )
    run(stage)
    stage.finish()
    return stage


def records(stage: Stage) -> list[dict[str, Any]]:
    return StageOutput(stage.out).table().to_pylist()


def test_files_of_two_tools_become_one_table_that_passes_its_check(tmp_path: Path) -> None:
    stage = imported(tmp_path, a_csv=CSV, b_csv=OTHER)
    told = [(r["item"], r["rater"], r["verdict"], r["query"], r["source"]) for r in records(stage)]
    assert told == [
        (key(0), "a", "GOOD", "r0", "csv"),
        (key(0), "b", "BAD", "r0", "csv"),
        (key(1), "a", "GOOD", "r1", "csv"),
        (key(2), "12", "BAD", "r2", "label_studio"),
    ]
    assert {name: value for name, value, _ in stage.metrics} == {"ratings": 4, "raters": 3, "items_rated": 3}
    (tmp_path / "expectations").symlink_to(PROJECT / "expectations")
    assert check(tmp_path, "english", "import_ratings")


def test_equal_files_give_equal_outputs_and_another_file_another_parent(tmp_path: Path) -> None:
    first, second = (imported(tmp_path / name, a_csv=CSV) for name in ("one", "two"))
    assert StageOutput(first.out).digest == StageOutput(second.out).digest and first.parents == second.parents
    assert imported(tmp_path / "three", a_csv=CSV + f"{key(2)},a,1,\n").parents != first.parents


@pytest.mark.parametrize("rater", ["ann@example.org", "Ann Other"])
def test_a_file_that_names_people_is_refused_without_repeating_the_name(tmp_path: Path, rater: str) -> None:
    with pytest.raises(HearsightError) as caught:
        imported(tmp_path, a_csv=f"{CSV}{key(2)},{rater},1,\n")
    assert "a.csv: rating 4 (row 4) names its rater by name or e-mail" in str(caught.value) and rater not in str(caught.value)
    assert "hearsight ratings import" in str(caught.value)


def test_a_folder_without_files_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(HearsightError, match="ratings/english: holds no file of ratings — rate items and run"):
        imported(tmp_path, _hidden="")


def test_ratings_of_other_items_are_counted_with_a_warning_and_alone_are_an_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    unknown = f"{key(7)},a,1,\n"
    with caplog.at_level(logging.WARNING):
        stage = imported(tmp_path / "some", a_csv=CSV + unknown)
    assert "1 ratings are of items that english/build_rating_items does not hold" in caplog.text and len(records(stage)) == 3
    with pytest.raises(HearsightError, match=r"holds no rating of an item of english/build_rating_items \(unknown_item 1\)"):
        imported(tmp_path / "none", a_csv="item,rater,verdict,time\n" + unknown)
