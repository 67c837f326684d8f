"""The commands from a project on disk to a second clone that has only the repository and the remote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from components.cli.main import app
from components.core.digests import sha256_file
from components.core.object_store import object_key
from components.core.stage_output import StageOutput
from components.core.storage import S3Storage, read_storage
from components.execution import runner
from tests.support import InlineEngine
from tests.support.pipeline.harness import ENVIRONMENT, Project, leave_docs
from tests.support.settings_files import edit_settings
from tests.support.storage.projects import git, settings, small_project
from tests.support.storage.server import S3Server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


def hearsight(project: Project, *words: str, exit_code: int = 0) -> list[dict[str, Any]]:
    """Run a command in this process; return its JSON lines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEARSIGHT_ROOT", str(project.root))
        result = CliRunner().invoke(app, ["storage", *words], catch_exceptions=False)
    assert result.exit_code == exit_code, result.output
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


def run(project: Project, *stages: str) -> None:
    """Run stages in this process, each without its check."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEARSIGHT_TRACKING", "off")
        patch.setattr(runner, "make_engine", lambda *_: InlineEngine())
        for stage in stages:
            runner.run_stage(project.root, stage, "english", check=leave_docs)


def save(project: Project, message: str) -> None:
    project.run("dvc", "commit", "--force")
    git(project.root, "add", "-A")
    git(project.root, "add", "-f", "components", "flows")
    git(project.root, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", message)


def test_a_second_clone_pulls_manifests_and_goes_on(server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in server.environment.items():
        monkeypatch.setitem(ENVIRONMENT, name, value)
    first = small_project(tmp_path / "first")
    run(first, "crawl", "split")
    save(first, "on disk")
    on_disk = {stage: first.manifest(stage) for stage in ("crawl", "split")}

    address = settings(server).url
    (line,) = hearsight(first, "use", address, "--endpoint", server.url)
    assert line["next"] == "hearsight storage push; dvc commit --force; dvc push"
    assert read_storage(first.root) == S3Storage(url=address, endpoint=server.url)
    assert {entry["output"] for entry in hearsight(first, "push") if "output" in entry} == {"english/crawl", "english/split"}
    save(first, "in the bucket")
    first.run("dvc", "push")
    run(first, "crawl", "split")
    assert {stage: first.manifest(stage) for stage in on_disk} == on_disk, "the bucket changed a digest"

    git(tmp_path, "clone", "-q", str(first.root), str(tmp_path / "second"))
    second = Project(tmp_path / "second")
    second.run("dvc", "pull", "crawl@english", "split@english")
    local = [path for path in (second.root / "data" / "english").rglob("*") if path.is_file()]
    assert {path.name for path in local} == {"manifest.json"}
    second.run("dvc", "repro", "--single-item", "--force", "split@english")
    assert second.manifest("split") == on_disk["split"]
    assert not list((second.root / "data" / "english" / "crawl").rglob("*.tar")), "fetched though nobody read it"
    *outputs, whole = hearsight(second, "status")
    assert [entry["missing in the bucket"] for entry in outputs] == [0, 0] and whole["output"] == address
    hearsight(second, "pull", "english/crawl")
    output = StageOutput(second.root / "data" / "english" / "crawl")
    for name, (_, sha256) in output.manifest.expected_files().items():
        assert sha256_file(output.path / name) == sha256

    old = StageOutput(first.root / "data" / "english" / "split").manifest
    edit_settings(first.root, lambda content: content["english"]["split"].update(test=0.4))
    run(first, "split")
    assert old.digest != StageOutput(first.root / "data" / "english" / "split").digest
    named = {object_key(sha256) for _, sha256 in old.expected_files().values()} | {object_key(old.digest)}
    hearsight(first, "prune", "--days", "0", "--yes")
    assert named <= set(server.stored()), "prune deleted what a branch's dvc.lock names"
    save(first, "another split")
    (counted,) = hearsight(first, "prune", "--days", "0", "--keep", "HEAD")
    (deleted,) = hearsight(first, "prune", "--days", "0", "--keep", "HEAD", "--yes")
    assert counted["objects"] == deleted["objects"] > 0 and object_key(old.digest) not in server.stored()
    hearsight(first, "status")
