"""Kill -9 at seeded moments in every stage: nothing finished is redone, and the manifests end equal byte for byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.pipeline.conftest import Whole, add_web, small_params
from tests.pipeline.harness import make_project, sample_params, torment, uninterrupted
from tests.support import PROJECT

SEED = 20


@pytest.mark.timeout(1800)
def test_a_run_killed_in_every_stage_ends_with_the_manifests_of_an_uninterrupted_one(tmp_path: Path, whole: Whole):
    hurt = make_project(tmp_path / "hurt", small_params(), add_web)
    struck = torment(hurt, whole.took, SEED)
    assert {s: hurt.manifest(s) for s in hurt.stages} == {s: whole.project.manifest(s) for s in hurt.stages}
    # A kill that came too late proves nothing: every stage must really have been struck.
    assert set(struck) == set(hurt.stages), struck
    assert "worker" in struck["train"]


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_sample_run_killed_in_every_stage_ends_with_the_same_manifests(tmp_path: Path):
    if not (PROJECT / "data" / "packages" / "checksums.json").exists():
        pytest.skip("needs `make data`")

    def add_packages(root: Path) -> None:
        shutil.copytree(PROJECT / "data" / "packages", root / "data" / "packages", symlinks=True)

    unhurt = make_project(tmp_path / "unhurt", sample_params(), add_packages)
    took = uninterrupted(unhurt, checks=False)
    hurt = make_project(tmp_path / "hurt", sample_params(), add_packages)
    struck = torment(hurt, took, SEED)
    assert {s: hurt.manifest(s) for s in hurt.stages} == {s: unhurt.manifest(s) for s in hurt.stages}
    assert set(struck) == set(hurt.stages), struck
