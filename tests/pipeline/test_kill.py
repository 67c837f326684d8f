"""Kill -9 at seeded moments in the stages: nothing finished is redone, and the manifests end equal byte for byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.pipeline.harness import Project, kill_at, make_project, torment, uninterrupted
from tests.support.pipeline.whole import add_web, small_params

SEED = 20

# The first waits for a project in which every stage has run.
pytestmark = [pytest.mark.long, pytest.mark.timeout(7200)]


PATIENCE = 600
"""Seconds until a stage that never comes to the moment of its kill is taken for hung; a moment that is missed costs none."""


@pytest.mark.parametrize(
    ("stage", "target"),
    [
        ("crawl", "runner"),
        pytest.param("synthesize", "parent", marks=pytest.mark.slow),
        pytest.param("pretrain_retrieval", "worker", marks=pytest.mark.slow),
    ],
)
def test_a_stage_killed_while_it_writes_ends_with_the_manifest_of_an_uninterrupted_one(
    tmp_path: Path, whole: Project, stage: str, target: str
):
    hurt = make_project(tmp_path / "hurt", small_params(), add_web)
    for name in ("data/english", "reports"):
        shutil.copytree(whole.root / name, hurt.root / name, dirs_exist_ok=True)
    shutil.rmtree(hurt.root / "data" / "english" / stage)
    moment = hurt.inside_an_epoch if stage == "pretrain_retrieval" else hurt.half_written
    # A write takes milliseconds: where the kill came too late, the stage runs once more from nothing.
    for _ in range(3):
        shutil.rmtree(hurt.root / ".hearsight", ignore_errors=True)
        if kill_at(hurt, stage, target, lambda lived: moment(), PATIENCE, force=True):
            break
    else:
        pytest.fail("no kill struck before the end of the stage")
    before = hurt.cache_entries()
    hurt.run("dvc", "repro", "--force", "--single-item", f"{stage}@english")
    after = hurt.cache_entries()
    assert [name for name in before if after.get(name) != before[name]] == [], "finished shards were written again"
    assert hurt.manifest(stage) == whole.manifest(stage)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_run_killed_in_every_stage_ends_with_the_manifests_of_an_uninterrupted_one(tmp_path: Path):
    unhurt = make_project(tmp_path / "unhurt", small_params(), add_web)
    took = uninterrupted(unhurt)
    hurt = make_project(tmp_path / "hurt", small_params(), add_web)
    struck = torment(hurt, took, SEED)
    assert {s: hurt.manifest(s) for s in hurt.stages} == {s: unhurt.manifest(s) for s in hurt.stages}
    # A kill that came too late proves nothing: every stage must really have been struck.
    assert set(struck) == set(hurt.stages), struck
    assert "worker" in struck["pretrain_retrieval"]
