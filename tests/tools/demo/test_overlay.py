"""The large tables' settings replace those of the datasets only while they run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.params import read_params_file
from components.tools.demo import OVERLAY, experiment_params, restore_params
from tests.support import PROJECT
from tests.support.contract import problems
from tests.support.settings_files import copy_settings, texts

FILES = {"a": "# a comment\none: {x: 1, rows: [x]}\n", "b": "one: {x: 1}\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "params.yaml").write_text("{}\n")
    (tmp_path / "datasets").mkdir()
    for name, text in FILES.items():
        (tmp_path / "datasets" / f"{name}.yaml").write_text(text)
    (tmp_path / OVERLAY).write_text("a: {one: {rows: [x, y]}}\n")
    return tmp_path


def are_original(root: Path) -> bool:
    return texts(root) == {"params.yaml": "{}\n", **{f"datasets/{name}.yaml": text for name, text in FILES.items()}}


def test_overlay_changes_only_the_named_settings(root):
    with experiment_params(root):
        assert read_params_file(root / "params.yaml") == {"a": {"one": {"x": 1, "rows": ["x", "y"]}}, "b": {"one": {"x": 1}}}
    assert are_original(root)


def test_params_are_restored_to_the_byte_also_after_an_error(root):
    with pytest.raises(RuntimeError), experiment_params(root):
        raise RuntimeError
    assert are_original(root)


def test_params_are_restored_by_the_next_command_after_a_kill(root):
    block = experiment_params(root)
    block.__enter__()  # as a killed process leaves it
    assert restore_params(root)
    assert are_original(root)
    assert not restore_params(root)


def test_a_second_run_after_a_kill_starts_from_the_original(root):
    experiment_params(root).__enter__()
    with experiment_params(root):
        assert (root / "datasets" / "a.yaml.orig").read_text() == FILES["a"]
    assert are_original(root)


def test_params_restored_by_hand_are_unchanged(root):
    experiment_params(root).__enter__()
    (root / "datasets" / "a.yaml").write_text("one: {x: 9}\n")
    assert not restore_params(root)
    assert (root / "datasets" / "a.yaml").read_text() == "one: {x: 9}\n"


@pytest.mark.parametrize("over", ["d: {}", "a: {two: 2}", "a: {one: 3}"])
def test_an_overlay_that_does_not_fit_names_the_key_and_changes_nothing(root, over):
    (root / OVERLAY).write_text(over)
    with pytest.raises(HearsightError, match=OVERLAY), experiment_params(root):
        pass
    assert are_original(root)


def test_an_unknown_setting_is_refused_before_any_stage_runs(tmp_path):
    copy_settings(tmp_path)
    (tmp_path / OVERLAY).write_text("english: {synthesize: {utterancs: 2}}\n")
    with (
        pytest.raises(HearsightError, match="utterancs: is not a setting — did you mean 'utterances'"),
        experiment_params(tmp_path),
    ):
        pass
    assert texts(tmp_path)["datasets/english.yaml"] == (PROJECT / "datasets" / "english.yaml").read_text()


def test_the_projects_overlay_makes_a_valid_project(tmp_path):
    for name in ("components", "expectations", "flows"):
        (tmp_path / name).symlink_to(PROJECT / name)
    copy_settings(tmp_path)
    shutil.copy(PROJECT / OVERLAY, tmp_path)
    small = sum(map(len, load_graph(tmp_path).chain.values()))
    with experiment_params(tmp_path):
        assert problems(tmp_path) == []
        assert sum(map(len, load_graph(tmp_path).chain.values())) > small
