"""Scheduled runs commit, tag and push what they made; clones continue from each other's results; data goes before references."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from components.core.errors import HearsightError
from flows import versioned
from flows.commands import environment, run_dvc
from flows.graph import read_plan
from flows.schedules import read_schedules
from flows.versioned import VersionedRun, open_run, superseded
from tests.flows.clones import KEYS, another_clone, copying, git, make_origin, s3_server

SETTINGS = {"day": 1, "schedules": {"daily": {"push": "origin"}}, "note": "none"}
STAGES = {
    "a": {"cmd": copying("source.txt", "a.out"), "deps": ["source.txt"], "params": ["day"], "outs": ["a.out"]},
    "check-a": {"cmd": copying("a.out", "a.gate"), "deps": ["a.out"], "outs": [{"a.gate": {"cache": False}}]},
    "b": {"cmd": copying("a.out", "b.out"), "deps": ["a.out", "a.gate"], "outs": ["b.out"]},
}


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in KEYS.items():
            patch.setenv(name, value)
        with s3_server() as url:
            yield url


def run_once(root: Path, flow_run: str = "run-1", edit: str = "") -> str:
    """Make a scheduled run without Prefect; return its tag."""
    schedule = read_schedules(root)["daily"]
    with open_run(root, "daily", schedule, flow_run) as run:
        run.update()
        if edit:
            replace(root, *edit.split("→"))
        code, lines = run_dvc(["repro"], root, environment(flow_run, ""), 600)
        assert code == 0, lines
        return run.publish(read_plan(root)[0], ["a"])


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
    assert (third / "a.gate").is_file()
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


class Started:
    """What :func:`superseded` reads of a flow run."""

    def __init__(self, due: str, automatic: bool = True) -> None:
        self.expected_start_time, self.auto_scheduled = datetime.fromisoformat(due), automatic


@pytest.mark.parametrize(
    "flow_run, due, why",
    [
        (Started("2026-11-24T03:00:00+00:00"), "", "due at 2026-11-24 03:00, and again since"),
        (Started("2026-11-26T03:00:00+00:00"), "", ""),
        (Started("2026-11-26T09:00:00+00:00", automatic=False), "", ""),
        (Started("2026-11-26T09:00:00+00:00", automatic=False), "2026-11-26T03:00:00+00:00", ""),
    ],
)
def test_of_the_runs_that_are_due_only_the_last_one_is_made_and_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flow_run: Started, due: str, why: str
) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, _zone: object = None) -> datetime:  # type: ignore[override]
            return datetime(2026, 11, 26, 9, 30, tzinfo=UTC)

    monkeypatch.setattr(versioned, "datetime", Clock)
    _, one = make_origin(tmp_path / "p", STAGES, {"schedules": {"daily": {}}})
    with open_run(one, "daily", read_schedules(one)["daily"], "x") as run:
        assert isinstance(run, VersionedRun)
        assert superseded(run, flow_run, due) == why
        git(one, "tag", "runs/daily/2026-11-25T04-00-00Z")
        assert superseded(run, flow_run, due) == why
        git(one, "tag", "runs/daily/2026-11-26T03-10-00Z")
        expected = why or ("" if not flow_run.auto_scheduled and not due else "exists: runs/daily/2026-11-26T03-10-00Z")
        assert superseded(run, flow_run, due).endswith(expected) and bool(superseded(run, flow_run, due)) == bool(expected)
