"""`hearsight profile add` writes a whole experiment that fits the project, or one line of error and nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from dvc.utils.serialize import load_yaml, modify_yaml
from typer.testing import CliRunner

from components.cli.main import app
from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.params import OWN_CHAIN, YAML_LOADER, read_params_file, read_yaml
from components.tools.profiles.profile import add_profile, read_profile
from tests.support.contract import chain_problems
from tests.support.datasets import project
from tests.support.profiles import CONTACT, PROFILES, files_of, with_profile
from tests.support.settings_files import texts


def command(root: Path, *words: str) -> str:
    done = CliRunner().invoke(app, ["profile", *words], env={"HEARSIGHT_ROOT": str(root)})
    if isinstance(done.exception, HearsightError):
        return str(done.exception)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_fits_the_project_and_leaves_every_other_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "before").mkdir()
    before = texts(project(tmp_path / "before"))
    graph = with_profile(tmp_path / "after", name)
    profile = read_profile(name)
    new = {dataset for takers in profile.chain.values() for dataset in takers}
    assert new <= set(graph.datasets) and new <= set(graph.params)
    assert [line for line in chain_problems(graph) if any(dataset in line for dataset in new)] == []
    after = texts(graph.root)
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {OWN_CHAIN} | (
        {"datasets/captioners.yaml"} if profile.captioners.sets or name == "flickr8k_facc" else set()
    )
    for name in set(after) - set(before):  # `dvc exp run -S` writes the file without quotes, and reads it again
        with modify_yaml(str(graph.root / name)):
            pass
        assert load_yaml(str(graph.root / name)) == read_yaml(graph.root / name) == yaml.load(after[name], YAML_LOADER)
    if profile.captioners.sets:
        assert {cell.set for cell in graph.cells.values()} == set(profile.captioners.sets)
    stages = {f"{stage}@{dataset}" for stage, takers in graph.chain.items() for dataset in takers}
    assert set(profile.targets) <= stages


def test_the_command_prints_what_to_run_and_stores_a_folder_inside_the_project_as_relative(tmp_path: Path) -> None:
    root = project(tmp_path)
    printed = command(root, "add", "flickr8k", "--data", str(files_of(root / "given", "flickr8k")))
    assert "next: dvc repro evaluate_captioners@captioners" in printed and "now compares: flickr8k" in printed
    crawl = load_graph(root).params["flickr8k"]["crawl"]
    assert crawl["source"]["inputs"] == ["given/Flickr8k.token.txt"]


def test_a_folder_outside_the_project_keeps_its_path_whatever_its_letters(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    root, data = project(tmp_path / "root"), files_of(tmp_path / 'da"ta: ü #1', "flickr8k")
    command(root, "add", "flickr8k", "--data", str(data))
    assert load_graph(root).params["flickr8k"]["crawl"]["source"]["image_folder"] == str(data / "images")


def test_the_list_says_what_each_profile_needs(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in command(project(tmp_path), "list").splitlines()]
    assert [row["profile"] for row in rows] == PROFILES
    assert all(row["title"] and row["files"] and row["needs"] for row in rows)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["flickr8", "--data", "given"], "there is no profile 'flickr8' — did you mean 'flickr8k'?"),
        (["flickr8k", "--data", "nowhere"], "nowhere: is no folder"),
        (["flickr8k", "--data", "empty"], "images/*.jpg: is missing, which profile flickr8k needs: the 8,091 images"),
        (["flickr8k_facc", "--data", "given"], "reads flickr8k/split, which no stage writes"),
        (["conceptual_captions", "--data", "given"], "--contact: is empty"),
        (["pracegover", "--data", "taken"], "there is a dataset 'pracegover_63k' already"),
    ],
)
def test_a_refused_profile_gives_one_line_and_changes_nothing(tmp_path: Path, words: list[str], message: str) -> None:
    root = project(tmp_path)
    files_of(root / "given", *PROFILES)
    files_of(root / "taken", *PROFILES)
    (root / "empty").mkdir()
    if "taken" in words:
        (root / "datasets" / "pracegover_63k.yaml").write_text("{}\n")
    before = texts(root)
    said = command(root, "add", words[0], "--data", str(root / words[2]))
    assert message in said and "\n" not in said
    assert texts(root) == before


def test_an_unknown_setting_of_a_profile_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    root = project(tmp_path)
    before = texts(root)
    profile = read_profile("flickr8k")
    wrong = profile.model_copy(update={"settings": profile.settings.replace("heads: 4", "haeds: 4")})
    with pytest.raises(HearsightError, match=r"haeds: is not a setting .*did you mean 'heads'"):
        add_profile(root, wrong, files_of(root / "given", "flickr8k"), CONTACT)
    assert texts(root) == before


def test_a_profile_replaces_the_test_sets_of_another(tmp_path: Path) -> None:
    root = with_profile(tmp_path, "conceptual_captions").root
    assert load_graph(root).params["captioners"]["tests"] == ["conceptual_validation", "flickr30k"]
    add_profile(root, read_profile("flickr8k"), files_of(root / "given", "flickr8k"))
    comparison = load_graph(root).params["captioners"]
    assert (comparison["sets"], comparison["tests"]) == (["flickr8k"], [])


@pytest.mark.slow
def test_dvc_reads_a_project_with_every_profile(tmp_path: Path) -> None:
    root = project(tmp_path)
    for name in PROFILES:
        add_profile(root, read_profile(name), files_of(root / "given", name), CONTACT)
    subprocess.run([sys.executable, "-m", "dvc", "init", "-q", "--no-scm"], cwd=root, check=True)
    listed = subprocess.run(
        [sys.executable, "-m", "dvc", "stage", "list", "--name-only"], cwd=root, check=True, capture_output=True, text=True
    ).stdout.split()
    chain = read_params_file(root / "params.yaml")["chain"]
    assert {f"{stage}@{dataset}" for stage, takers in chain.items() for dataset in takers} <= set(listed)
