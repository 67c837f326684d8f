"""The file of split assignments: it names no owner, only grows, and stops the run when it does not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.stages.split.assignments import open_assignments
from components.stages.split.run import run
from tests.stages.split.owner_posts import SETTINGS, SHARES, record, refusal, split, splits_by_key
from tests.support import make_stage


def test_the_assignment_file_names_no_owner_and_only_grows(tmp_path: Path) -> None:
    path = tmp_path / "data/store/sides/ours.jsonl"
    first = split(tmp_path, [record(n, f"maria{n}") for n in range(8)])
    was = path.read_bytes()
    second = split(tmp_path, [record(n, f"maria{n}") for n in range(3, 12)])
    now = path.read_bytes()
    assert now.startswith(was) and now.count(b"\n") == 1 + 12 and b"maria" not in now
    assert [parent["name"] for parent in first.parents] == ["sides ours"] and first.parents != second.parents
    assert sorted(path.parent.iterdir()) == [path]
    assert all(set(json.loads(line)) == {"owner", "side"} for line in now.splitlines()[1:])


def test_assignments_drawn_with_other_settings_are_refused_with_a_hint(tmp_path: Path) -> None:
    split(tmp_path, [record(1, "o1")])
    path = tmp_path / "data/store/sides/ours.jsonl"
    was = path.read_bytes()
    assert "drawn with seed 1 and test 0.2, train 0.6, validation 0.2, not with seed 2" in refusal(tmp_path, seed=2)
    assert "give split.sides a new name" in refusal(tmp_path, validation=0.1)
    assert path.read_bytes() == was
    assert splits_by_key(split(tmp_path, [record(1, "o1")], SETTINGS.model_copy(update={"seed": 2, "sides": "others"})))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda data: data[:-5], "is cut off"),
        (lambda data: data.replace(b'"side":"train"', b'"side":"attic"'), "line 2 is not a split assignment"),
        (lambda data: data.replace(b'"salt"', b'"pepper"'), "line 1 is not a split assignment"),
        (lambda data: data + data.splitlines()[1].replace(b"train", b"test") + b"\n", "line 3 is not"),
        (lambda data: b"", "is empty"),
        (lambda data: b"\xff\xfe\n", "line 1 is not"),
    ],
)
def test_a_damaged_assignment_file_stops_the_run_and_stays_unchanged(tmp_path: Path, spoil: Any, message: str) -> None:
    split(tmp_path, [record(1, "o1")])
    path = tmp_path / "data/store/sides/ours.jsonl"
    path.write_bytes(spoil(path.read_bytes()))
    was = path.read_bytes()
    assert message in refusal(tmp_path) and path.read_bytes() == was


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"by": "hand"}, "split.by: input should be 'group', 'owner', 'text' or 'published', not 'hand'"),
        ({"sides": ""}, "split.sides: is empty — name the file of split assignments"),
        ({"by": "group"}, "split.sides: is not a setting of by: group — remove it; it belongs to by: owner"),
        ({"side": "x"}, "split.side: is not a setting — did you mean 'sides'?"),
        ({"sides": "../else"}, "is not a valid name"),
        ({"sides": "index"}, "is not a valid name"),
        ({"test": 0.9}, "leave nothing to train on"),
    ],
)
def test_invalid_settings_give_a_one_line_error(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    assert message in refusal(tmp_path, **changed)


def test_an_assignment_file_is_open_in_one_run_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.execution.process.LOCK_PATIENCE", 0.2)
    with (
        open_assignments(tmp_path, "ours", 1, SHARES),
        pytest.raises(HearsightError, match="the file of split assignments 'ours' is being written"),
        open_assignments(tmp_path, "ours", 1, SHARES),
    ):
        pass


def test_a_run_killed_after_storing_assignments_completes_on_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [record(n, f"owner{n % 7}") for n in range(50)]
    whole = split(tmp_path / "whole", rows)

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("components.execution.stage.Stage.write_shard", die)
        source = StageOutput(tmp_path / "whole/data/posts/dedup")
        with pytest.raises(KeyboardInterrupt):
            run(make_stage(tmp_path / "killed", "split", "posts", SETTINGS, {"input": source}))
    assert (tmp_path / "killed/data/store/sides/ours.jsonl").exists()
    assert StageOutput(split(tmp_path / "killed", rows).out).digest == StageOutput(whole.out).digest
