"""Kill -9 at seeded moments in every stage: nothing finished is redone, and the manifests end equal byte for byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.crawl.fixture_web import build_fixture_web
from tests.kill.harness import make_project, torment, uninterrupted
from tests.support import PROJECT

SEED = 20


def fixture_params() -> dict:
    """The project's own parameters, on the fixture web and with little training."""
    params = yaml.safe_load((PROJECT / "params.yaml").read_text())
    for stage in ("filter", "hypernymize"):
        del params["chain"][stage]["paper"]
        params["chain"]["report"]["english"][f"paper_{stage}"] = f"english/{stage}"
    params["engine"]["workers"] = 2
    english = params["english"]
    english["crawl"].update(FIXTURE_CRAWL)
    english["synthesize"].update(utterances=1)
    english["train"].update(FIXTURE_TRAIN)
    return params


FIXTURE_CRAWL: dict = {}
FIXTURE_TRAIN: dict = {}


@pytest.mark.timeout(600)
def test_a_run_killed_in_every_stage_ends_with_the_manifests_of_an_uninterrupted_one(tmp_path: Path):
    def add_web(root: Path) -> None:
        build_fixture_web(root / "web", pages=40, seed=0)

    whole = make_project(tmp_path / "whole", fixture_params(), add_web)
    took = uninterrupted(whole)
    hurt = make_project(tmp_path / "hurt", fixture_params(), add_web)
    struck = torment(hurt, took, SEED)
    assert {stage: whole.manifest(stage) for stage in whole.stages} == {stage: hurt.manifest(stage) for stage in hurt.stages}
    # A kill that came too late proves nothing: every stage must really have been struck.
    assert set(struck) == set(whole.stages), struck
    assert "worker" in struck["train"] and "worker" in struck["filter"]


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_sample_run_killed_in_every_stage_ends_with_the_same_manifests(tmp_path: Path):
    if not (PROJECT / "data" / "packages" / "checksums.json").exists():
        pytest.skip("needs `make data`")

    def add_packages(root: Path) -> None:
        shutil.copytree(PROJECT / "data" / "packages", root / "data" / "packages", symlinks=True)

    params = yaml.safe_load((PROJECT / "params.yaml").read_text())
    for stage in ("filter", "hypernymize"):
        del params["chain"][stage]["paper"]
        params["chain"]["report"]["english"][f"paper_{stage}"] = f"english/{stage}"
    whole = make_project(tmp_path / "whole", params, add_packages)
    took = uninterrupted(whole)
    hurt = make_project(tmp_path / "hurt", params, add_packages)
    struck = torment(hurt, took, SEED)
    assert {stage: whole.manifest(stage) for stage in whole.stages} == {stage: hurt.manifest(stage) for stage in hurt.stages}
    assert set(struck) == set(whole.stages), struck
