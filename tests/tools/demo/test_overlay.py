"""The large tables' settings replace params.yaml only while they run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.params import read_params_file
from components.tools.demo.overlay import OVERLAY, backup_path, experiment_params, merge_settings, restore_params
from components.tools.demo.progress import count_stages
from tests.core.contract import problems
from tests.settings_files import copy_settings
from tests.support import PROJECT

PARAMS = "# a comment\na: &a {one: 1, rows: [x]}\nb: *a\nc: {<<: *a, one: 3}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "params.yaml").write_text(PARAMS)
    (tmp_path / OVERLAY).write_text("a: {rows: [x, y]}\nc: {one: 4}\n")
    return tmp_path


def test_overlay_changes_only_the_named_settings_also_behind_anchors(root):
    with experiment_params(root):
        assert read_params_file(root / "params.yaml") == {
            "a": {"one": 1, "rows": ["x", "y"]},
            "b": {"one": 1, "rows": ["x"]},
            "c": {"one": 4, "rows": ["x"]},
        }


def test_params_are_restored_to_the_byte_also_after_an_error(root):
    with pytest.raises(RuntimeError), experiment_params(root):
        raise RuntimeError
    assert (root / "params.yaml").read_text() == PARAMS
    assert not backup_path(root).exists()


def test_params_are_restored_by_the_next_command_after_a_kill(root):
    block = experiment_params(root)
    block.__enter__()  # as a killed process leaves it
    assert restore_params(root)
    assert (root / "params.yaml").read_text() == PARAMS
    assert not restore_params(root)


def test_a_second_run_after_a_kill_starts_from_the_original(root):
    experiment_params(root).__enter__()
    with experiment_params(root):
        assert backup_path(root).read_text() == PARAMS
    assert (root / "params.yaml").read_text() == PARAMS


def test_params_restored_by_hand_are_unchanged(root):
    experiment_params(root).__enter__()
    (root / "params.yaml").write_text("a: {one: 9}\n")
    assert not restore_params(root)
    assert (root / "params.yaml").read_text() == "a: {one: 9}\n"


@pytest.mark.parametrize("over", [{"d": 1}, {"a": {"two": 2}}, {"a": 3}, {"a": {"one": {"x": 1}}}])
def test_an_overlay_that_does_not_fit_names_the_key(over):
    with pytest.raises(HearsightError, match=OVERLAY):
        merge_settings(yaml.safe_load(PARAMS), over, OVERLAY)


def test_an_unknown_setting_is_refused_before_any_stage_runs(tmp_path):
    copy_settings(tmp_path)
    (tmp_path / OVERLAY).write_text("english: {synthesize: {utterancs: 2}}\n")
    with (
        pytest.raises(HearsightError, match="utterancs: is not a setting — did you mean 'utterances'"),
        experiment_params(tmp_path),
    ):
        pass
    assert (tmp_path / "params.yaml").read_bytes() == (PROJECT / "params.yaml").read_bytes()


def test_the_projects_overlay_makes_a_valid_project(tmp_path):
    for name in ("components", "expectations", "flows"):
        (tmp_path / name).symlink_to(PROJECT / name)
    for name in ("dvc.yaml", "params.yaml", OVERLAY):
        shutil.copy(PROJECT / name, tmp_path / name)
    small = count_stages(load_graph(tmp_path))
    with experiment_params(tmp_path):
        assert problems(tmp_path) == []
        assert count_stages(load_graph(tmp_path)) > small
