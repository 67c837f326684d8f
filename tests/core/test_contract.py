"""A stage's parts stand together: take any one away and the contract names the file, in seconds."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from components.core.addresses import COMPARED, FUNNEL, parse_output_name
from components.core.graph import TEST_SETS, load_graph
from components.execution.runner import stage_settings
from tests.support import PROJECT
from tests.support.contract import problems
from tests.support.settings_files import copy_settings, edit_settings


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("components", "flows", "expectations"):
        shutil.copytree(PROJECT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    copy_settings(tmp_path)
    return tmp_path


def edit(path: Path, change: Callable[[dict], None]) -> None:
    content = yaml.safe_load(path.read_text())
    change(content)
    path.write_text(yaml.safe_dump(content, sort_keys=False))


STAGES = list(yaml.safe_load((PROJECT / "dvc.yaml").read_text())["stages"])
TAKERS = {stage: next(iter(takers)) for stage, takers in load_graph(PROJECT).chain.items()}
"""A dataset that takes the stage."""
WORK = [stage for stage in STAGES if stage in TAKERS]
CELLED = [stage for stage in WORK if TAKERS[stage] in load_graph(PROJECT).cells]
"""The stages that are run for the cells of a matrix: their settings are of another kind."""
ONCE = [stage for stage in WORK if stage not in CELLED]


def test_stages_records_suites_and_settings_are_consistent():
    found = list(problems(PROJECT))
    assert not found, "\n".join(found)


def test_dvc_compares_one_file_of_each_stage_with_main_figures_and_no_other():
    stages = yaml.safe_load((PROJECT / "dvc.yaml").read_text())["stages"]
    listed = {name: entry.get("do", entry).get("metrics") for name, entry in stages.items()}
    assert {name: files for name, files in listed.items() if files} == {
        stage: [f"reports/${{key}}/{stage}.json"] for stage in COMPARED
    }


def test_the_sample_has_at_most_forty_metrics(tmp_path):
    copy_settings(tmp_path)  # without the datasets that a user has added
    graph = load_graph(tmp_path)
    kept = sum(len(graph.chain[stage]) for stage in FUNNEL)
    heard = len(graph.chain["evaluate_speech"])
    rows = 0
    for inputs in graph.chain["evaluate_retrieval"].values():
        trained, stage = parse_output_name(inputs["input"])
        rows += 2 * len(stage_settings(graph, stage, trained).rows)
    rated = 3 + len(graph.params["captioners"]["networks"])  # the dataset, two crops of the truth, models of english
    assert 30 < kept + heard + len(graph.cells) + rows + rated <= 40


def test_every_missing_suite_is_named(copy):
    for stage in WORK:
        (copy / "expectations" / f"{stage}.json").unlink()
    result = problems(copy)
    for stage in WORK:
        assert any(line.startswith(f"expectations/{stage}.json:") for line in result), stage


def test_every_missing_package_is_named(copy):
    for stage in WORK:
        shutil.rmtree(copy / "components" / "stages" / stage)
    result = problems(copy)
    for stage in WORK:
        assert any(line.startswith(f"components/stages/{stage}/__init__.py:") for line in result), stage


def test_every_missing_part_of_a_package_is_named(copy):
    for stage in WORK:
        for name, part in (("__init__.py", "class Params("), ("run.py", "def run(")):
            path = copy / "components" / "stages" / stage / name
            path.write_text(path.read_text().replace(part, f"{part.split()[0]} other("))
    result = problems(copy)
    for stage in WORK:
        assert f"components/stages/{stage}/__init__.py: does not define Params" in result
        assert f"components/stages/{stage}/run.py: does not define run" in result


@pytest.mark.parametrize("stage", ["crawl", "pretrain_retrieval", "train_captioner", "report"])
def test_a_stage_missing_from_dvc_yaml_is_named(copy, stage):
    edit(copy / "dvc.yaml", lambda content: content["stages"].pop(stage))
    assert any(line.startswith("dvc.yaml:") and stage in line for line in problems(copy))


def test_all_missing_parameters_are_named(copy):
    def forget(content: dict) -> None:
        for stage in ONCE:
            content[TAKERS[stage]].pop(stage)

    edit_settings(copy, forget)
    result = problems(copy)
    for stage in ONCE:
        assert f"datasets/{TAKERS[stage]}.yaml: {stage} is missing though the chain takes it" in result


@pytest.mark.parametrize("part", ["expectations/{stage}.json", "components/stages/check"])
def test_a_stage_that_does_not_depend_on_its_check_is_named(copy, part):
    def forget(content: dict) -> None:
        for stage in WORK:
            body = content["stages"][stage]
            body.get("do", body)["deps"].remove(part.format(stage=stage))

    edit(copy / "dvc.yaml", forget)
    result = problems(copy)
    for stage in WORK:
        assert f"dvc.yaml: {stage} does not depend on {part.format(stage=stage)}" in result


def test_code_that_is_imported_but_not_declared_is_named_for_every_stage(copy):
    stages = [stage for stage in STAGES if stage != TEST_SETS]

    def forget(content: dict) -> None:
        for stage in stages:
            body = content["stages"][stage].get("do", content["stages"][stage])
            body["deps"] = [dep for dep in body["deps"] if dep != "components/core"]

    edit(copy / "dvc.yaml", forget)
    result = problems(copy)
    for stage in stages:
        assert any(line.startswith(f"dvc.yaml: {stage} imports components/core/") for line in result), stage


def test_code_that_is_declared_but_not_imported_is_named(copy):
    edit(copy / "dvc.yaml", lambda content: content["stages"]["split"]["do"]["deps"].append("components/speech/audio"))
    assert problems(copy) == ["dvc.yaml: split depends on components/speech/audio but imports nothing of it"]


@pytest.mark.parametrize("stage", CELLED)
def test_missing_parameters_of_a_matrix_are_named_by_the_set(copy, stage):
    of = load_graph(copy).cells[TAKERS[stage]].set
    edit_settings(copy, lambda content: content[of].pop(stage))
    assert f"datasets/{of}.yaml: {stage} is missing though the chain takes it" in problems(copy)


@pytest.mark.parametrize("folder", ["reports/lineage/${item.captioners}", "reports/captioner_tests"])
def test_a_matrix_without_its_lineages_as_dependencies_is_named(copy, folder):
    edit(copy / "dvc.yaml", lambda content: content["stages"]["evaluate_captioners"]["do"]["deps"].remove(folder))
    assert f"dvc.yaml: evaluate_captioners does not depend on {folder}" in problems(copy)


def test_test_sets_that_do_not_reach_the_evaluation_are_named(copy):
    edit(copy / "dvc.yaml", lambda content: content["stages"][TEST_SETS].update(foreach="${captioners.sets}"))
    assert problems(copy) == [f"dvc.yaml: {TEST_SETS} does not cover captioners.tests"]
    edit(copy / "dvc.yaml", lambda content: content["stages"][TEST_SETS]["do"]["deps"].pop())
    assert any(line.startswith(f"dvc.yaml: {TEST_SETS} does not copy reports/lineage/") for line in problems(copy))
    edit(copy / "dvc.yaml", lambda content: content["stages"].pop(TEST_SETS))
    assert len(problems(copy)) == 2


def test_a_cell_without_its_sets_features_as_dependency_is_named(copy):
    def forget(content: dict) -> None:
        body = content["stages"]["train_captioner"]
        body["deps"] = [dep for dep in body["deps"] if not dep.startswith("data/")]

    edit(copy / "dvc.yaml", forget)
    assert "dvc.yaml: train_captioner does not depend on its input 'extract_features'" in problems(copy)
