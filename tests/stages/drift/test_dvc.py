"""DVC keeps the history of days from run to run, and runs nothing for a day that was measured."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.core.addresses import lineage_path
from components.core.files import publish_json
from components.core.params import YAML_LOADER
from components.core.stage_output import StageOutput
from components.stages.drift.history import history_path, read_history
from tests.support import PROJECT
from tests.support.check.boundaries import make
from tests.support.command import hearsight
from tests.support.pipeline.harness import ENVIRONMENT, init_repository

INPUTS = {"input": "split", "crawl": "crawl", "filter": "filter", "hypernymize": "hypernymize", "dedup": "dedup"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose only stage is drift, over finished outputs."""
    stages = yaml.load((PROJECT / "dvc.yaml").read_text(), YAML_LOADER)["stages"]
    chosen: dict[str, Any] = {name: stages[name] for name in ("drift",)}
    for entry in chosen.values():
        entry["do"]["deps"] = [name for name in entry["do"]["deps"] if not name.startswith("components/")]
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump({"stages": chosen}))
    wired = {name: f"english/{stage}" for name, stage in INPUTS.items()} | {"extract_descriptions": "none"}
    (tmp_path / "params.yaml").write_text(
        yaml.safe_dump({"storage": {"versioned": ""}, "chain": {"drift": {"english": wired}}, "english": {"drift": {}}})
    )
    for place in ("data/none/manifest.json", "expectations/drift.json", ".gitignore"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes((PROJECT / place).read_bytes())
    for stage in INPUTS.values():
        make(tmp_path, stage)
    init_repository(tmp_path)
    return tmp_path


def name_snapshot(root: Path, snapshot: str, base: str) -> None:
    output = StageOutput(root / "data/english/crawl")
    named = {"params": {"snapshot": snapshot, "base": base}, "manifest_sha256": output.digest}
    publish_json(lineage_path(output.path), named)


def repro(root: Path) -> str:
    environment = {**ENVIRONMENT, "HEARSIGHT_ROOT": str(root)}
    done = subprocess.run(["dvc", "repro"], cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_each_day_adds_a_line_that_git_can_keep_and_a_measured_day_runs_nothing(root: Path) -> None:
    name_snapshot(root, "day-1", "")
    repro(root)
    assert "up to date" in repro(root)
    name_snapshot(root, "day-2", "day-1")
    assert "drift@english" in repro(root)
    assert [(day.snapshot, day.new) for day in read_history(history_path(root, "english"))] == [("day-1", False), ("day-2", True)]
    assert "up to date" in repro(root)
    listed = subprocess.run(
        ["git", "status", "--porcelain", "-uall", "reports"], cwd=root, capture_output=True, text=True, check=True
    )
    assert listed.stdout.split() == ["??", "reports/days/english.jsonl"]


@pytest.mark.long
def test_the_command_prints_the_days_figures_as_json_lines(root: Path) -> None:
    name_snapshot(root, "day-1", "")
    environment = {"HEARSIGHT_ROOT": str(root), "HEARSIGHT_TRACKING": "off"}
    done = hearsight("run", "drift", "--dataset", "english", cwd=root, **environment)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in hearsight("drift", cwd=root, **environment).stdout.splitlines()]
    assert {"measure": "language en", "value": 1.0, "of": 8, "low": None}.items() <= {row["key"]: row for row in rows}[
        "languages/candidates/en"
    ].items()
    assert hearsight("drift", "--outside", cwd=root, **environment).stdout == b""
    refused = hearsight("drift", "--dataset", "paper", cwd=root, **environment)
    assert refused.returncode == 2 and b"not in the chain of dataset 'paper'" in refused.stderr
