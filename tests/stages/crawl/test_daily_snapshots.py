"""`hearsight snapshot next` writes the next snapshot into params.yaml and changes nothing else in that file."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.params import read_params_file, read_yaml
from components.core.yaml_edit import edited_yaml
from components.tools.snapshots import next_snapshot
from tests.support.command import hearsight
from tests.support.settings_files import copy_settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    copy_settings(tmp_path)
    return tmp_path


def complete(root: Path, snapshot: str) -> None:
    (root / "data/store" / snapshot).mkdir(parents=True)
    (root / "data/store" / snapshot / "COMPLETE").write_text("{}")


def settings(root: Path) -> tuple[str, str]:
    crawl = read_params_file(root / "params.yaml")["english"]["crawl"]
    return crawl["snapshot"], crawl["base"]


def test_each_day_uses_the_last_snapshot_as_base_and_changes_two_values_only(root):
    before = (root / "datasets" / "english.yaml").read_text().splitlines()
    complete(root, "sample-2")
    assert next_snapshot(root, "english", date(2026, 11, 21))["moved"] and settings(root) == ("sample-2-2026-11-21", "sample-2")
    after = (root / "datasets" / "english.yaml").read_text().splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert len(changed) == 2 and all(old.partition("#")[2] == new.partition("#")[2] != "" for old, new in changed)
    complete(root, "sample-2-2026-11-21")
    next_snapshot(root, "english", date(2026, 11, 22))
    assert settings(root) == ("sample-2-2026-11-22", "sample-2-2026-11-21")


def test_an_incomplete_snapshot_is_completed_first_and_a_day_is_advanced_once(root):
    day = date(2026, 11, 21)
    assert next_snapshot(root, "english", day) == {
        "dataset": "english", "snapshot": "sample-2", "base": "", "moved": False, "why": "it is not complete yet",
    }  # fmt: skip
    complete(root, "sample-2")
    next_snapshot(root, "english", day)
    assert not next_snapshot(root, "english", date(2026, 11, 22))["moved"]
    complete(root, "sample-2-2026-11-21")
    assert not next_snapshot(root, "english", day)["moved"] and settings(root) == ("sample-2-2026-11-21", "sample-2")


def test_a_dataset_without_crawl_is_a_one_line_error(root):
    with pytest.raises(HearsightError, match="the stage 'crawl' is not in the chain of dataset 'paper'"):
        next_snapshot(root, "paper", date(2026, 11, 21))


def test_the_command_prints_what_it_changed(root):
    complete(root, "sample-2")

    done = hearsight("snapshot", "next", "--day", "2026-11-21", HEARSIGHT_ROOT=str(root))
    assert done.returncode == 0 and json.loads(done.stdout)["snapshot"] == "sample-2-2026-11-21"
    wrong = hearsight("snapshot", "next", "--day", "tomorrow", HEARSIGHT_ROOT=str(root))
    assert wrong.returncode == 2
    assert wrong.stderr.decode() == "hearsight: --day: 'tomorrow' is not a date — write it as 2026-11-21\n"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cn", "Cs", "Zl", "Zp"]), max_size=20))
def test_any_text_round_trips_through_a_file_of_settings_whose_comments_stay(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("p") / "a.yaml"
    path.write_text("a: # one\n  b: {c: old, d: 1} # two\ne: 'x'\n")
    with edited_yaml(path) as content:
        content["e"] = text
    assert read_yaml(path) == {"a": {"b": {"c": "old", "d": 1}}, "e": text}
    assert path.read_text().startswith("a: # one\n  b: {c: old, d: 1} # two\ne: ")


def test_a_file_stays_as_it_was_after_an_error(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n")
    with pytest.raises(KeyError), edited_yaml(path) as content:
        content["a"] = content["b"]
    assert path.read_text() == "a: 1\n"
