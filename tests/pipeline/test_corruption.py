"""A stage that writes nonsense is stopped by its check, in `dvc repro` and in the Prefect flow, and no later stage can read it.

The chain's outputs are small right outputs, committed as if their stages had just written them; then the code of one stage is
replaced by one that writes an output with a seeded corruption.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from components.core.addresses import draft_path, lineage_path
from components.core.files import publish_json
from components.core.stage_output import StageOutput
from components.stages.check import check
from tests.support import PROJECT
from tests.support.check.boundaries import make
from tests.support.check.corruptions import CORRUPTIONS
from tests.support.pipeline.harness import ENVIRONMENT, Project, commit, make_project, sample_params

# The first waits for a project in which every stage has run.
pytestmark = [pytest.mark.long, pytest.mark.timeout(7200)]

CHAIN = sample_params()["chain"]
CHAINED = {stage: cases for stage, cases in CORRUPTIONS.items() if CHAIN.get(stage)}
"""Of the stages that the fixture's chain takes; suites of the others are held to theirs in ``tests/stages/check``."""
QUICK = (("crawl", 0), ("pretrain_retrieval", 0))
"""Taken by `make test-long`: the chain's beginning, and a stage whose files are not shards alone."""
CASES = [
    pytest.param(stage, number, marks=[] if (stage, number) in QUICK else [pytest.mark.slow], id=f"{stage}-{number}")
    for stage, cases in CHAINED.items()
    for number in range(len(cases))
]


DEFECT = """\
from tests.support.check.boundaries import fill
from tests.support.check.corruptions import CORRUPTIONS

def run(stage):
    fill(stage, CORRUPTIONS[stage.name][{number}][0])
"""


def call(project: Project, *words: str) -> tuple[int, str]:
    """Run a command with the project's own code, and the tests' beside it."""
    code = os.pathsep.join([str(project.root), str(PROJECT)])
    environment = {**ENVIRONMENT, "HEARSIGHT_ROOT": str(project.root), "PYTHONPATH": code}
    done = subprocess.run(words, cwd=project.root, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Every stage's output is there and right, and DVC knows it."""
    project = make_project(tmp_path_factory.mktemp("corruption") / "project", sample_params())
    for stage in project.stages:
        finish(project, stage)
    add_missing_outs(project)
    commit(project)
    code, result = call(project, "dvc", "status")
    assert (code, "up to date" in result) == (0, True), result
    return project


def finish(project: Project, stage: str) -> None:
    """Leave what a run of a stage leaves: its right output, checked, and its lineage."""
    output = StageOutput(make(project.root, stage))
    check(project.root, "english", stage)
    publish_json(lineage_path(output.path), {"manifest_sha256": output.digest, "parents": []})


def add_missing_outs(project: Project) -> None:
    """Write something as the plots and metrics of stages."""
    from dvc.repo import Repo

    for out in Repo(str(project.root)).index.outs:
        path = Path(out.fs_path)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}\n")


@contextmanager
def corrupted(project: Project, stage: str, number: int) -> Iterator[None]:
    """The code of one stage writes a corrupted output; afterwards all is right again."""
    code = project.root / "components" / "stages" / stage / "run.py"
    right = code.read_text()
    code.write_text(DEFECT.format(number=number))
    try:
        yield
    finally:
        code.write_text(right)
        finish(project, stage)
        add_missing_outs(project)
        commit(project, f"{stage}@english")


def assert_named(project: Project, stage: str, number: int, said: str) -> None:
    """The message names the file, the column, the expectation, and a page of Data Docs that is there."""
    _, file, column, expectation = CORRUPTIONS[stage][number]
    line = next(line for line in said.splitlines() if f"data/english/{stage}.draft/{file}" in line)
    assert f"column '{column}'" in line
    assert expectation in line
    page = re.search(r"see (reports/data_docs/\S+\.html)", line)
    assert page and (project.root / page[1]).is_file()


@pytest.mark.parametrize(("stage", "number"), CASES)
def test_dvc_repro_stops_at_a_corrupted_boundary(finished: Project, stage: str, number: int):
    with corrupted(finished, stage, number):
        code, result = call(finished, "dvc", "repro")
        assert code != 0
        assert re.findall(r"^Running stage '(.+)'", result, re.MULTILINE) == [f"{stage}@english"]
        assert_named(finished, stage, number, result)
        output = finished.root / "data" / "english" / stage
        assert draft_path(output).is_dir() and not output.exists()


@pytest.mark.slow  # `flows.pipeline` starts a Prefect server of its own.
@pytest.mark.parametrize(("stage", "number"), CASES)
def test_the_flow_stops_at_a_corrupted_boundary(finished: Project, stage: str, number: int):
    with corrupted(finished, stage, number):
        code, result = call(finished, sys.executable, "-m", "flows.pipeline")
        assert code == 2, result[-3000:]
        assert re.findall(r"Running stage '([^']+)'", result) == [f"{stage}@english"]
        assert_named(finished, stage, number, result)
