"""Scheduled runs commit, tag and push what they made; clones continue from each other's results; data goes before references."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from components.core.errors import HearsightError
from flows.commands import environment, run_dvc
from flows.graph import read_plan
from flows.schedules import read_schedules
from flows.versioned import VersionedRun, open_run, read_settings, superseded
from tests.support.flows.clones import Started, another_clone, copying, git, make_origin

pytestmark = pytest.mark.long

SETTINGS = {"day": 1, "schedules": {"daily": {"push": "origin"}}, "note": "none"}
STAGES = {
    "a": {"cmd": copying("source.txt", "a.out"), "deps": ["source.txt"], "params": ["day"], "outs": ["a.out"]},
    "table-a": {"cmd": copying("a.out", "a.csv"), "deps": ["a.out"], "outs": [{"a.csv": {"cache": False}}]},
    "b": {"cmd": copying("a.out", "b.out"), "deps": ["a.out", "a.csv"], "outs": ["b.out"]},
}


def run_once(root: Path, flow_run: str = "run-1", edit: str = "", later: str = "") -> str:
    """Make a scheduled run without Prefect; return its tag. Settings are edited before the stages run, and after they did."""
    schedule = read_schedules(root)["daily"]
    with open_run(root, "daily", schedule, flow_run) as run:
        run.update()
        if edit:
            replace(root, *edit.split("→"))
        code, lines = run_dvc(["repro"], root, environment(flow_run, ""), 600)
        assert code == 0, lines
        settings = read_settings(root)
        if later:
            replace(root, *later.split("→"))
        return run.publish(read_plan(root)[0], ["a"], settings)


def replace(root: Path, old: str, new: str) -> None:
    text = (root / "params.yaml").read_text()
    assert old in text
    (root / "params.yaml").write_text(text.replace(old, new))


def test_clones_continue_from_each_others_runs_and_a_checkout_of_a_tag_has_its_data(tmp_path: Path, s3: str) -> None:
    origin, one = make_origin(tmp_path / "p", STAGES, SETTINGS, s3)
    two = another_clone(origin, "two")
    before = git(one, "rev-parse", "HEAD"), git(one, "symbolic-ref", "HEAD")
    first = run_once(one, edit="day: 1→day: 2")
    assert (git(one, "rev-parse", "HEAD"), git(one, "symbolic-ref", "HEAD")) == before
    assert git(one, "status", "--porcelain").split() == ["M", "params.yaml", "??", "dvc.lock"]
    message = git(origin, "log", "-1", "--format=%B", "runs/daily")
    assert message.startswith("daily: 1 of 3 stages ran") and "Schedule: daily" in message and "Flow-run: run-1" in message
    assert set(git(origin, "for-each-ref", "--format=%(refname)").split()) == {
        "refs/heads/main", "refs/heads/runs/daily", f"refs/tags/{first}"
    }  # fmt: skip

    (two / "ran").write_text("")
    replace(two, "note: none", "note: of two")
    second = run_once(two, "run-2")
    assert (two / "ran").read_text() == "", "the second clone ran nothing again: it pulled the first one's results"
    assert yaml.safe_load((two / "params.yaml").read_text())["day"] == 2
    assert "note: of two" in git(origin, "show", f"{second}:params.yaml")
    assert git(origin, "rev-parse", f"{second}^1") == git(origin, "rev-parse", first)

    third = another_clone(origin, "three")
    git(third, "checkout", "-q", second)
    assert (third / "a.csv").is_file()
    code, lines = run_dvc(["pull"], third, os.environ, 600)
    assert code == 0, lines
    assert read_plan(third)[1] == set(), "the tag's files and data are those of a finished run"
    assert (third / "b.out").read_text() == "source a.out b.out "


def test_a_run_that_cannot_push_data_pushes_no_reference_and_the_next_one_publishes_it(tmp_path: Path) -> None:
    origin, one = make_origin(tmp_path / "p", STAGES, SETTINGS)
    with pytest.raises(HearsightError, match=r"dvc push: .*remote"):
        run_once(one)
    assert git(origin, "for-each-ref", "--format=%(refname)") == "refs/heads/main", "neither branch nor tag nor lock"
    assert not git(one, "tag")
    git(one, "remote", "remove", "origin")
    with pytest.raises(HearsightError, match="has no remote 'origin'"):
        run_once(one)
    replace(one, "push: origin", "push: ''")
    tag = run_once(one)
    assert git(one, "rev-parse", tag) == git(one, "rev-parse", "runs/daily")


def test_settings_changed_on_both_sides_end_the_run_and_change_nothing(tmp_path: Path, s3: str) -> None:
    origin, one = make_origin(tmp_path / "p", STAGES, SETTINGS, s3)
    two = another_clone(origin, "two")
    run_once(one, edit="day: 1→day: 2")
    replace(two, "day: 1", "day: 3")
    text = (two / "params.yaml").read_text()
    with pytest.raises(HearsightError, match="was changed here and on runs/daily in the same lines"):
        run_once(two)
    assert (two / "params.yaml").read_text() == text and not (two / "dvc.lock").exists()


def test_of_many_late_runs_one_is_made(tmp_path: Path) -> None:
    _, one = make_origin(tmp_path / "p", STAGES, {"schedules": {"daily": {}}})
    days = [Started(f"2026-11-{day}T03:00:00+00:00") for day in (24, 25, 26)]
    with open_run(one, "daily", read_schedules(one)["daily"], "x") as run:
        assert isinstance(run, VersionedRun)
        assert [superseded(run, day, "") for day in days] == [""] * 3, "until one succeeds"
        assert superseded(run, Started("2026-11-26T09:00:00+00:00", automatic=False), "2026-11-26T03:00:00+00:00") == ""
        assert superseded(run, Started("2099-01-01T03:00:00+00:00"), "") == "", "the next one is made"
        git(one, "tag", "runs/daily/2026-11-26T03-10-00Z")
        assert superseded(run, days[2], "").endswith("exists: runs/daily/2026-11-26T03-10-00Z")
        by_serve = superseded(run, Started("2026-11-26T09:00:00+00:00", automatic=False), "2026-11-26T03:00:00+00:00")
        assert by_serve.endswith("exists: runs/daily/2026-11-26T03-10-00Z"), "another clone was faster"
        assert superseded(run, Started("2026-11-26T03:00:00+00:00", automatic=False), "") == "", "a person may always start one"
