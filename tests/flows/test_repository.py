"""Commits without a checkout, refs that move from a known value only, merges by entry, and the lock between clones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from components.core.errors import HearsightError
from components.core.graph import read_lock
from flows.lockfile import changed_entries, take_entries
from flows.locks import LOCK_REF, RemoteLock, run_lock
from flows.remote import delete_old_refs
from flows.repository import Move, PushRefused, Repository
from flows.schedules import previous_due, read_schedules, tag_time, time_tag
from flows.worker import left_by_a_stage
from tests.support import PROJECT, until
from tests.support.flows.clones import another_clone, git, make_origin

STAGES = {"a": {"cmd": "true", "deps": ["source.txt"], "outs": ["a.out"]}}


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    return make_origin(tmp_path, STAGES, {})[0]


def state(clone: Path) -> tuple[str, str, bytes]:
    """HEAD, the files that differ, and the bytes of the index."""
    return (
        git(clone, "symbolic-ref", "HEAD") + git(clone, "rev-parse", "HEAD"),
        git(clone, "status", "--porcelain"),
        (clone / ".git/index").read_bytes(),
    )


def test_a_commit_holds_the_files_and_touches_neither_head_nor_index_nor_checkout(origin: Path) -> None:
    clone = origin.parent / "one"
    (clone / "params.yaml").write_text("day: 2\n")
    (clone / "x.csv").write_text("open")
    (clone / "source.txt").write_text("a person's edit")
    git(clone, "add", "source.txt")
    before = state(clone)
    repository = Repository(clone)
    commit = repository.commit("HEAD", [repository.value("HEAD")], ["params.yaml", "x.csv", "missing.csv"], "a run")
    repository.move(Move("refs/heads/runs/daily", "", commit))
    assert state(clone) == before
    assert repository.read(commit, "params.yaml") == "day: 2\n" and repository.read(commit, "x.csv") == "open"
    assert repository.read(commit, "source.txt") == "source ", "an edit that a person has not committed is not committed"
    assert repository.read(commit, "missing.csv") is None
    assert repository.changed_files() == ["params.yaml", "source.txt"]
    with pytest.raises(HearsightError, match="git update-ref"):
        repository.move(Move("refs/heads/runs/daily", "", commit))


def test_what_a_stage_left_in_a_workers_clone_is_told_from_a_persons_changes(origin: Path) -> None:
    clone = origin.parent / "one"
    repository = Repository(clone)
    assert not left_by_a_stage(repository)
    commit = repository.commit("HEAD", [repository.value("HEAD")], [], "before a\n\nFlow-run: 7\n")
    git(clone, "checkout", "--quiet", "--detach", commit)
    assert left_by_a_stage(repository)
    git(clone, "checkout", "--quiet", "-b", "mine")
    assert not left_by_a_stage(repository), "a person's branch begins at the flow's commit"
    git(clone, "checkout", "--quiet", "--detach", "HEAD~1")
    assert not left_by_a_stage(repository), "a person looks at an older commit"


def test_a_remote_that_cannot_be_cleaned_is_a_warning_since_other_stages_need_it_not(origin: Path, tmp_path: Path) -> None:
    warnings: list[str] = []
    clone = origin.parent / "one"
    git(clone, "remote", "add", "gone", str(tmp_path / "nowhere.git"))
    for remote in ("gone", "unknown"):
        delete_old_refs(clone, remote, warnings.append)
    assert [line.split(":")[1] for line in warnings] == [f" refs of killed flows stay on remote {r}" for r in ("gone", "unknown")]
    assert not any("\n" in line for line in warnings)
    delete_old_refs(clone, "origin", warnings.append)  # nothing was left there: no server is asked
    assert len(warnings) == 2


def test_of_two_writers_one_is_refused_and_nothing_of_its_push_arrives(origin: Path) -> None:
    one, two = (Repository(path, "origin") for path in (origin.parent / "one", another_clone(origin, "two")))
    commits = [each.commit("HEAD", [each.value("HEAD")], [], name) for each, name in ((one, "one"), (two, "two"))]
    one.push(Move("refs/heads/runs/daily", "", commits[0]), Move("refs/tags/t1", "", commits[0]))
    with pytest.raises(PushRefused):
        two.push(Move("refs/heads/runs/daily", "", commits[1]), Move("refs/tags/t2", "", commits[1]))
    assert two.remote_refs("refs/*") == one.remote_refs("refs/*")
    assert "refs/tags/t2" not in two.remote_refs("refs/*")
    assert two.fetch("refs/heads/runs/daily") == commits[0] and two.fetch("refs/heads/none") == ""


def test_missing_repositories_remotes_and_unreachable_ones_are_one_line(tmp_path: Path, origin: Path) -> None:
    with pytest.raises(HearsightError, match="has no remote 'upstream' — git remote add"):
        Repository(origin.parent / "one", "upstream")
    (tmp_path / "plain").mkdir()
    with pytest.raises(HearsightError, match="has no commit"):
        subprocess.run(["git", "init", "-q", str(tmp_path / "plain")], check=True)
        Repository(tmp_path / "plain")
    repository = Repository(origin.parent / "one", "origin")
    origin.rename(origin.with_name("moved.git"))
    with pytest.raises(HearsightError) as caught:
        repository.push(Move("refs/heads/x", "", repository.value("HEAD")))
    assert "can the remote be reached?" in str(caught.value) and "\n" not in str(caught.value)


def test_two_changes_of_a_dvc_lock_merge_by_stage() -> None:
    def lock(**stages: str) -> str:
        return yaml.safe_dump({"schema": "2.0", "stages": {name: {"cmd": cmd} for name, cmd in stages.items()}})

    base, ours, theirs = lock(a="1", b="1", c="1"), lock(a="2", b="1", c="1"), lock(a="1", b="2")
    assert changed_entries(base, theirs) == ["b", "c"]
    merged = read_lock(take_entries(ours, theirs, changed_entries(base, theirs)))
    assert merged == {"a": {"cmd": "2"}, "b": {"cmd": "2"}}
    assert read_lock(None) == {}
    for damaged in ("<<<<<<< ours\n- a", "", "schema: '2.0'\n"):
        with pytest.raises(HearsightError, match=r"is not a dvc\.lock"):
            read_lock(damaged)


HOLD = """
import sys, time
from pathlib import Path
from flows.locks import RemoteLock, run_lock
from flows.repository import Repository
root, stale, log = Path(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3])
for _ in range(int(sys.argv[4])):
    with run_lock(root):
        lock = RemoteLock(Repository(root, "origin"), "daily", stale)
        lock.acquire()
        with log.open("a") as handle:
            handle.write(f"+{root.name}\\n"); handle.flush()
            time.sleep(float(sys.argv[5]))
            handle.write(f"-{root.name}\\n")
        lock.release()
"""


def hold(clone: Path, log: Path, stale: float, times: int, length: float) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", HOLD, str(clone), str(stale), str(log), str(times), str(length)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(PROJECT)})


@pytest.mark.long
def test_two_clones_never_hold_the_remotes_lock_together(origin: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    processes = [hold(clone, log, 60, 3, 0.2) for clone in (origin.parent / "one", another_clone(origin, "two"))]
    assert [process.wait() for process in processes] == [0, 0]
    lines = log.read_text().split()
    assert len(lines) == 12
    for begin, end in zip(lines[::2], lines[1::2], strict=True):
        assert begin[0] == "+" and end == f"-{begin[1:]}", lines
    assert git(origin, "for-each-ref", LOCK_REF) == ""


@pytest.mark.long
def test_the_lock_of_a_killed_run_is_taken_over_when_it_no_longer_moves_and_its_publication_is_refused(
    origin: Path, tmp_path: Path
) -> None:
    one, two, log = origin.parent / "one", another_clone(origin, "two"), tmp_path / "log"
    process = hold(one, log, 2.5, 1, 600)
    until(lambda: log.is_file() and git(origin, "for-each-ref", LOCK_REF))
    first = git(origin, "rev-parse", LOCK_REF)
    until(lambda: git(origin, "rev-parse", LOCK_REF) != first)
    waiting = RemoteLock(Repository(two, "origin"), "daily", 2.5)
    with pytest.raises(HearsightError, match=rf"the run lock is held by process {process.pid} on .* \(daily\)"):
        waiting.acquire(patience=4.0)
    process.kill()
    process.wait()
    last = git(origin, "rev-parse", LOCK_REF)
    waiting.acquire(patience=120.0)
    repository = Repository(one, "origin")
    with pytest.raises(PushRefused):
        repository.push(Move("refs/heads/runs/daily", "", repository.value("HEAD")), Move(LOCK_REF, last, ""))
    waiting.release()
    assert git(origin, "for-each-ref", LOCK_REF) == ""


def test_a_clone_takes_the_lock_of_its_own_killed_run_at_once(origin: Path, tmp_path: Path) -> None:
    one, log = origin.parent / "one", tmp_path / "log"
    process = hold(one, log, 600, 1, 600)
    until(lambda: log.is_file())
    with (
        pytest.raises(HearsightError, match=f"the project is being written by process {process.pid}"),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr("components.execution.process.LOCK_PATIENCE", 0.1)
        with run_lock(one):
            pass
    process.kill()
    process.wait()
    with run_lock(one):
        lock = RemoteLock(Repository(one, "origin"), "daily", 600)
        lock.acquire(patience=60)
        holder = json.loads(git(one, "log", "-1", "--format=%B", lock.value))
        assert holder["pid"] == os.getpid() and holder["what"] == "daily"
        lock.release()


def test_the_times_of_schedules_and_tags() -> None:
    noon = datetime(2026, 11, 26, 12, tzinfo=UTC)
    assert previous_due("0 3 * * *", noon) == datetime(2026, 11, 26, 3, tzinfo=UTC)
    assert previous_due("0 12 * * *", noon) == noon
    assert time_tag("runs/daily", noon) == "runs/daily/2026-11-26T12-00-00Z"
    assert tag_time("runs/daily", time_tag("runs/daily", noon)) == noon
    assert tag_time("runs/daily", "runs/daily/notes") is None


@pytest.mark.parametrize(
    "block, message",
    [
        ("{cron: 'each day'}", r"schedules\.often\.cron: 'each day' is not a cron schedule"),
        ("{notify: team}", r"schedules\.often\.notify: 'team' is not a block"),
        ("{branch: '-x'}", r"schedules\.often\.branch: '-x' is not a branch"),
        ("{stale: soon}", r"schedules\.often\.stale: timeout is 'soon'"),
        ("{crom: x}", "crom: is not a setting"),
    ],
)
def test_a_wrong_setting_of_a_schedule_is_named(tmp_path: Path, block: str, message: str) -> None:
    (tmp_path / "params.yaml").write_text(f"schedules:\n  often: {block}\n")
    with pytest.raises(HearsightError, match=message):
        read_schedules(tmp_path)
