"""Where a project keeps its caches and packages, and that an experiment of DVC uses those of its main project."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core.addresses import CODE_ROOT, installed_file, lineage_path, main_project, output_root, state_folder


@pytest.mark.parametrize(
    "folder, main",
    [
        ("", ""),
        (".dvc/tmp/exps/tmp1", ""),
        (".dvc/tmp/exps/standalone/tmp1", ""),
        ("tmp/clone", "tmp/clone"),
        (".dvc/x", ".dvc/x"),
    ],
)
def test_an_experiment_has_the_caches_of_the_project_below_which_it_runs(tmp_path: Path, folder: str, main: str) -> None:
    assert main_project(tmp_path / folder) == tmp_path / main
    assert state_folder(tmp_path / folder) == tmp_path / main / ".hearsight"


def test_an_installed_file_is_of_the_project_else_of_the_main_project_else_beside_the_code(tmp_path: Path) -> None:
    experiment, name = tmp_path / ".dvc" / "tmp" / "exps" / "a", "data/packages/weights"
    assert installed_file(experiment, name) == experiment / name  # for the message that it is missing
    for project in (tmp_path, experiment):
        (project / name).parent.mkdir(parents=True)
        (project / name).touch()
        assert installed_file(experiment, name) == project / name
    assert installed_file(tmp_path / "new", "pyproject.toml") == CODE_ROOT / "pyproject.toml"
    assert installed_file(tmp_path, "/etc/hostname") == Path("/etc/hostname")


def test_the_project_of_an_output_is_found_for_cells_too(tmp_path: Path) -> None:
    for dataset in ("english", "captioners/cells/english-t2t8x8"):
        assert output_root(tmp_path / "data" / dataset / "split") == tmp_path
        assert lineage_path(tmp_path / "data" / dataset / "split") == tmp_path / "reports" / "lineage" / dataset / "split.json"
