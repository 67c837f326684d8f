"""What `dvc repro` runs again after a change: what depends on it, and nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from components.core.params import dataset_file
from tests.support.pipeline.harness import ENVIRONMENT, Project

# The first waits for a project in which every stage has run.
pytestmark = [pytest.mark.long, pytest.mark.timeout(7200)]


def repro(project: Project) -> tuple[list[str], str]:
    """Run `dvc repro`; returns the stages it ran and its output."""
    environment = {**ENVIRONMENT, "HEARSIGHT_ROOT": str(project.root)}
    done = subprocess.run(["dvc", "repro"], cwd=project.root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    ran = [line.split("'")[1] for line in done.stdout.splitlines() if line.startswith("Running stage")]
    return ran, done.stdout


def annotations(project: Project) -> dict[str, int]:
    """How many results each annotator ever computed."""
    import sqlite3

    counts = {}
    for path in sorted((project.root / ".hearsight" / "annotations").glob("*.sqlite")):
        base = sqlite3.connect(path)
        counts[path.name] = base.execute("SELECT count(*) FROM results").fetchone()[0]
        base.close()
    return counts


def fetches(project: Project) -> bytes:
    return b"".join(path.read_bytes() for path in sorted((project.root / "data" / "store").rglob("index*")))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text, (path, old)
    path.write_text(text.replace(old, new, 1))


def test_a_second_repro_runs_nothing(whole: Project):
    ran, result = repro(whole)
    assert ran == []
    assert "up to date" in result


def test_an_edited_suite_runs_its_own_stage_again_from_the_caches_and_nothing_else(whole: Project):
    path, cache = whole.root / "expectations" / "split.json", whole.cache_entries()
    edit(path, "{", "{ ")
    ran, _ = repro(whole)
    assert ran == ["split@english"]
    assert whole.cache_entries() == cache


def test_a_changed_comment_changes_no_output(whole: Project):
    project = whole
    before = {stage: project.manifest(stage) for stage in project.stages}
    cache = project.cache_entries()
    path = project.root / "components" / "stages" / "filter" / "rules.py"
    path.write_text(path.read_text() + "\n# a comment\n")
    ran, _ = repro(project)
    assert ran == ["filter@english"]
    assert {stage: project.manifest(stage) for stage in project.stages} == before
    assert project.cache_entries() == cache


def test_a_changed_filter_threshold_computes_no_annotation_and_downloads_nothing(whole: Project):
    project = whole
    known, fetched = annotations(project), fetches(project)
    path = dataset_file(project.root, "english")
    before = path.read_text()
    params = yaml.safe_load(before)
    # Stricter, so that fewer records go on: whatever is left has been seen before.
    params["filter"]["max_capital_ratio"] = 0.34
    path.write_text(yaml.safe_dump(params, sort_keys=False))
    try:
        environment = {**ENVIRONMENT, "HEARSIGHT_ROOT": str(project.root)}
        done = subprocess.run(
            ["dvc", "repro", "--single-item", "filter@english"],
            cwd=project.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Running stage" in done.stdout, done.stderr
        assert annotations(project) == known
        assert fetches(project) == fetched
    finally:
        path.write_text(before)
