"""A stage that wrote nonsense is stopped at its output, by `dvc repro` and by the Prefect flow, before the next one runs.

The chain's outputs are small right outputs, committed as if their stages had just written them; then one of them is
written again with a seeded corruption and committed as its stage's output, which is what a defect in a stage amounts to.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from components.stages.check import check
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


def call(project: Project, *words: str) -> tuple[int, str]:
    environment = {**ENVIRONMENT, "HEARSIGHT_ROOT": str(project.root)}
    done = subprocess.run(words, cwd=project.root, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Every stage's output is there and right, and DVC knows it."""
    from dvc.repo import Repo

    project = make_project(tmp_path_factory.mktemp("corruption") / "project", sample_params())
    for stage in project.stages:
        make(project.root, stage)
        check(project.root, "english", stage)
    for out in Repo(str(project.root)).index.outs:
        path = Path(out.fs_path)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}\n")
    commit(project)
    code, result = call(project, "dvc", "status")
    assert (code, "up to date" in result) == (0, True), result
    return project


@contextmanager
def corrupted(project: Project, stage: str, number: int) -> Iterator[None]:
    """One stage wrote a corrupted output; afterwards it is right again."""
    make(project.root, stage, CORRUPTIONS[stage][number][0])
    commit(project, f"{stage}@english")
    try:
        yield
    finally:
        make(project.root, stage)
        check(project.root, "english", stage)
        commit(project, f"{stage}@english", f"check-{stage}@english")


def assert_named(project: Project, stage: str, number: int, said: str) -> None:
    """The message names the file, the column, the expectation, and a page of Data Docs that is there."""
    _, file, column, expectation = CORRUPTIONS[stage][number]
    line = next(line for line in said.splitlines() if f"data/english/{stage}/{file}" in line)
    assert f"column '{column}'" in line
    assert expectation in line
    page = re.search(r"see (reports/data_docs/\S+\.html)", line)
    assert page and (project.root / page[1]).is_file()


@pytest.mark.parametrize(("stage", "number"), CASES)
def test_dvc_repro_stops_at_a_corrupted_boundary(finished: Project, stage: str, number: int):
    with corrupted(finished, stage, number):
        code, result = call(finished, "dvc", "repro")
    assert code != 0
    assert re.findall(r"^Running stage '(.+)'", result, re.MULTILINE) == [f"check-{stage}@english"]
    assert_named(finished, stage, number, result)


@pytest.mark.slow  # `flows.pipeline` starts a Prefect server of its own.
@pytest.mark.parametrize(("stage", "number"), CASES)
def test_the_flow_stops_at_a_corrupted_boundary(finished: Project, stage: str, number: int):
    with corrupted(finished, stage, number):
        code, result = call(finished, sys.executable, "-m", "flows.pipeline")
    assert code == 2, result[-3000:]
    assert re.findall(r"Running stage '([^']+)'", result) == [f"check-{stage}@english"]
    assert_named(finished, stage, number, result)
