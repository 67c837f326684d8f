"""Documented commands that read a finished run, executed in one (tests/documents/test_commands.py names them)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.pipeline.harness import ENVIRONMENT, Project

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def executed(root: Path, *words: str) -> str:
    """The standard output of a command that succeeds in ``root``."""
    environment = {**ENVIRONMENT, "HEARSIGHT_ROOT": str(root)}
    done = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_show_names_pages_that_exist(whole: Project) -> None:
    root = whole.root
    result = executed(root, "hearsight", "show", "--dataset", "english")
    assert str(root / "data" / "english" / "report" / "report.html") in result
    assert (root / "data" / "english" / "report" / "report.html").is_file()


def test_explain_finds_a_record_by_a_prefix_of_its_key(whole: Project) -> None:
    root = whole.root
    shard = next((root / "data" / "english" / "split").rglob("*.parquet"))
    key = pq.read_table(shard, columns=["key"])["key"][0].as_py()
    lives = [json.loads(line) for line in executed(root, "hearsight", "explain", key[:16]).splitlines()]
    assert any(key in json.dumps(life) for life in lives)


@pytest.mark.parametrize(
    "words", ["dvc metrics show", "dvc metrics diff", "dvc plots show", "dvc dag", "dvc exp show --no-pager"]
)
def test_dvc_shows_metrics_plots_and_experiments(whole: Project, words: str) -> None:
    root = whole.root
    for command in (["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all", "--allow-empty"]):
        subprocess.run(["git", *command], cwd=root, check=True, env=ENVIRONMENT)
    executed(root, *words.split())


def test_takedown_lists_nothing_in_a_new_project(whole: Project) -> None:
    assert executed(whole.root, "hearsight", "takedown", "list") == ""
