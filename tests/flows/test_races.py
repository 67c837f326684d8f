"""What vanishes between a look and its use is free; times and states that cannot be true are not believed; checkouts follow."""

from __future__ import annotations

import os
import shlex
import shutil
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.errors import HearsightError
from flows.locks import LOCK_REF, RemoteLock, clone_id
from flows.repository import Move, Repository
from flows.schedules import Schedule, read_schedules, tag_time, time_tag
from flows.versioned import VersionedRun, last_run, open_run, read_settings, superseded
from tests.support import until
from tests.support.flows.clones import Started, another_clone, git, make_origin

DUE = "2026-11-26T03:00:00+00:00"
STAGES = {"a": {"cmd": "true", "deps": ["source.txt"], "params": ["day"], "outs": ["a.out"]}}
FILES = {"params.yaml": "day: 2\n", "dvc.lock": "schema: '2.0'\nstages: {}\n"}


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A clone of a bare repository beside it."""
    return make_origin(tmp_path / "p", STAGES, {"day": 1, "schedules": {"daily": {}}})[1]


@pytest.fixture
def during(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Have a command run once just before git's command of that name, as if another process were faster."""

    def install(word: str, command: str) -> None:
        folder, real = tmp_path / "bin", shutil.which("git")
        folder.mkdir(exist_ok=True)
        once = shlex.quote(str(folder / "once"))
        (folder / "git").write_text(
            f'#!/bin/sh\nif [ "$1" = {word} ] && mkdir {once} 2>&-; then {command}; fi\nexec {real} "$@"\n'
        )
        (folder / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return install


@pytest.mark.parametrize("word", ["fetch", "push", "commit-tree", "log"])
def test_a_lock_that_vanishes_while_it_is_looked_at_is_free(one: Path, word: str, during: Callable[[str, str], None]) -> None:
    origin, two = one.with_name("origin.git"), another_clone(one.with_name("origin.git"), "two")
    first = RemoteLock(Repository(two, "origin"), "daily", 600)
    first.acquire()
    first.stop()
    during(word, f"git -C {shlex.quote(str(origin))} update-ref -d {LOCK_REF}")
    second = RemoteLock(Repository(one, "origin"), "daily", 0.1 if word != "fetch" else 600)
    second.acquire(patience=60)
    assert git(origin, "rev-parse", LOCK_REF) == second.value
    first.release()
    assert git(origin, "rev-parse", LOCK_REF) == second.value, "whose lock has vanished deletes no other"
    second.release()
    assert git(origin, "for-each-ref", LOCK_REF) == ""


def test_a_lock_or_branch_that_is_deleted_by_hand_is_no_error(one: Path) -> None:
    origin, repository = one.with_name("origin.git"), Repository(one, "origin")
    lock = RemoteLock(repository, "daily", 600)
    lock.acquire()
    git(origin, "update-ref", "-d", LOCK_REF)
    lock.release()
    run = VersionedRun("daily", Schedule(push="origin"), repository, "7", None)
    git(one, "branch", "runs/daily")
    git(one, "push", "-q", "origin", "runs/daily")
    git(origin, "update-ref", "-d", "refs/heads/runs/daily")
    run.update()
    with pytest.raises(HearsightError, match="git fetch --quiet"):
        git(one, "remote", "set-url", "origin", str(one / "nowhere"))
        repository.fetch("refs/heads/main")


@pytest.mark.parametrize("content", ["no commit", "{}", "[3]"])
def test_a_lock_that_is_no_lock_is_taken_over_like_one_that_does_not_move(one: Path, content: str) -> None:
    origin, repository = one.with_name("origin.git"), Repository(one, "origin")
    blob = repository.run("hash-object", "-w", "--stdin", stdin=content)
    value = blob if content == "no commit" else repository.commit("", [], [], content)
    git(one, "push", "-q", "origin", f"{value}:{LOCK_REF}")
    lock = RemoteLock(repository, "daily", 0.2)
    lock.acquire(patience=60)
    assert git(origin, "rev-parse", LOCK_REF) == lock.value
    lock.release()


def test_names_and_messages_that_are_not_utf8_pass_through_git_unchanged(one: Path) -> None:
    name = b"caf\xe9.txt"
    (Path(os.fsdecode(os.fsencode(one) + b"/" + name))).write_bytes(b"\xe9")
    git(one, "add", "-A")
    git(one, "commit", "-qm", "a name of an old system")
    (Path(os.fsdecode(os.fsencode(one) + b"/" + name))).write_bytes(b"\xe8")
    repository = Repository(one)
    assert repository.changed_files() == [os.fsdecode(name)]
    with open_run(one, "daily", Schedule(), "7") as run:
        run.publish([], ["a"])


def test_a_run_that_waits_outlives_a_remote_that_is_away_for_a_moment(one: Path) -> None:
    origin, two = one.with_name("origin.git"), another_clone(one.with_name("origin.git"), "two")
    holder, waiting = (RemoteLock(Repository(clone, "origin"), "daily", 600) for clone in (two, one))
    holder.acquire()
    holder.stop()
    taken = threading.Thread(target=waiting.acquire, args=(60,), daemon=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("flows.locks.POLL", 0.1)
        taken.start()
        until(lambda: git(one, "for-each-ref", "refs/hearsight/fetched"))
        origin.rename(origin.with_name("away.git"))
        time.sleep(0.5)
        assert taken.is_alive()
        origin.with_name("away.git").rename(origin)
        holder.release()
        taken.join(60)
    assert git(origin, "rev-parse", LOCK_REF) == waiting.value
    waiting.release()


def make_run(root: Path) -> VersionedRun:
    return VersionedRun("daily", read_schedules(root)["daily"], Repository(root), "7", None)


def test_a_clock_that_was_ahead_does_not_silence_a_schedule(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ahead = datetime.now(UTC) + timedelta(days=400)
    git(one, "tag", time_tag("runs/daily", ahead))
    run = make_run(one)
    assert superseded(run, Started(DUE), "") == ""
    (tag,) = capsys.readouterr().err.splitlines()
    assert time_tag("runs/daily", ahead) in tag and "is in the future" in tag
    git(one, "tag", "runs/daily/2026-11-26T03-10-00Z")
    assert last_run(run.repository, "runs/daily") == datetime(2026, 11, 26, 3, 10, tzinfo=UTC)
    soon = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=2)
    git(one, "tag", time_tag("runs/daily", soon))
    assert last_run(run.repository, "runs/daily") == soon, "the clocks of two machines differ by a little"


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=40))
def test_other_tags_have_no_time(text: str) -> None:
    assert tag_time("runs/daily", text) is None
    assert tag_time("runs/daily", "runs/daily/2026-13-45T99-00-00Z") is None


def test_a_due_time_that_is_none_is_one_line_and_one_without_a_zone_is_utc(one: Path) -> None:
    with pytest.raises(HearsightError, match="due: 'soon' is no time"):
        superseded(make_run(one), Started(DUE), "soon")
    git(one, "tag", "runs/daily/2026-11-26T03-10-00Z")
    assert "exists" in superseded(make_run(one), Started(DUE), "2026-11-26T03:05:00")


def test_an_empty_identity_of_a_clone_is_drawn_anew(one: Path) -> None:
    first = clone_id(one)
    assert clone_id(one) == first
    (one / ".hearsight" / "clone-id").write_bytes(b"\xff\xfe")
    assert clone_id(one) == clone_id(one) != first
    (one / ".hearsight" / "clone-id").write_text("")
    assert not clone_id(one).endswith(":") and clone_id(one) == clone_id(one) != first


def published(root: Path, **edits: str) -> str:
    """Publish a run that wrote FILES, of a branch of which ``root`` has the checkout; return the tag."""
    with open_run(root, "daily", Schedule(), "7") as run:
        run.update()
        for name, text in {**FILES, **edits}.items():
            (root / name).write_text(text)
        return run.publish([], ["a"])


def test_the_checkout_of_a_schedules_branch_follows_its_runs(one: Path) -> None:
    git(one, "checkout", "-q", "-b", "runs/daily")
    (one / "source.txt").write_text("a person's staged edit")
    git(one, "add", "source.txt")
    (one / "notes").write_text("ignored")
    tag = published(one)
    assert git(one, "rev-parse", tag) == git(one, "rev-parse", "HEAD")
    assert git(one, "status", "--porcelain").splitlines() == ["M  source.txt"], "the run's files are not shown as reverted"
    assert git(one, "show", "HEAD:source.txt") == "source"
    git(one, "reset", "-q", "--hard")
    assert published(one, **{"params.yaml": "day: 7\n"}) != tag
    assert git(one, "status", "--porcelain") == ""


def test_a_linked_checkout_follows_when_it_is_clean_and_keeps_a_persons_edits(one: Path) -> None:
    linked = one.with_name("linked")
    git(one, "worktree", "add", "-q", "-b", "runs/daily", str(linked))
    published(one)
    assert git(linked, "status", "--porcelain") == "" and (linked / "params.yaml").read_text() == "day: 2\n"
    (linked / "params.yaml").write_text("mine")
    before = git(linked, "rev-parse", "HEAD")
    with pytest.raises(HearsightError, match=r"linked: .*params\.yaml.* — commit or undo these changes"):
        published(one, **{"params.yaml": "day: 3\n"})
    assert (linked / "params.yaml").read_text() == "mine" and git(linked, "rev-parse", "HEAD") == before
    shutil.rmtree(linked)
    published(one, **{"params.yaml": "day: 3\n"})


def test_a_checkout_follows_what_other_clones_have_committed(one: Path) -> None:
    git(one, "checkout", "-q", "-b", "runs/daily")
    git(one, "push", "-q", "origin", "runs/daily")
    two = another_clone(one.with_name("origin.git"), "two")
    git(two, "checkout", "-q", "runs/daily")
    (two / "source.txt").write_text("better")
    (two / "params.yaml").write_text("day: 5\nschedules: {daily: {push: origin}}\n")
    git(two, "commit", "-q", "-a", "-m", "of another clone")
    git(two, "push", "-q", "origin", "runs/daily")
    repository = Repository(one, "origin")
    run = VersionedRun("daily", Schedule(push="origin"), repository, "7", None)
    (one / "source.txt").write_text("mine")
    with pytest.raises(HearsightError, match=r"source\.txt.*commit or undo"):
        run.update()
    assert (one / "source.txt").read_text() == "mine" and git(one, "diff", "--cached", "--name-only") == ""
    git(one, "checkout", "-q", "--", "source.txt")
    run.update()
    assert git(one, "status", "--porcelain") == "" and (one / "source.txt").read_text() == "better"
    assert git(one, "rev-parse", "HEAD") == git(two, "rev-parse", "HEAD")


def test_a_persons_commits_on_the_branch_are_kept(one: Path) -> None:
    git(one, "checkout", "-q", "-b", "runs/daily")
    git(one, "push", "-q", "origin", "runs/daily")
    git(one, "commit", "-q", "--allow-empty", "-m", "mine")
    mine, repository = git(one, "rev-parse", "HEAD"), Repository(one, "origin")
    run = VersionedRun("daily", Schedule(push="origin"), repository, "7", None)
    run.update()
    assert git(one, "rev-parse", "runs/daily") == mine
    lock = RemoteLock(repository, "daily", 600)
    lock.acquire()
    commit = repository.commit("HEAD", [mine], [], "a run")
    run._push([Move("refs/heads/runs/daily", mine, commit)], lock)
    assert repository.remote_refs("refs/heads/runs/daily") == {"refs/heads/runs/daily": commit}, "a commit of theirs and mine"
    with pytest.raises(HearsightError, match=r"runs/daily in .*: has commits that remote origin lacks, and lacks others of it"):
        git(one, "reset", "-q", "--hard", "main")
        git(one, "commit", "-q", "--allow-empty", "-m", "another")
        run.update()


def test_settings_edited_after_the_last_stage_are_not_the_runs(one: Path) -> None:
    used = read_settings(one)
    with open_run(one, "daily", read_schedules(one)["daily"], "7") as run:
        (one / "params.yaml").write_text("day: 9\n")
        tag = run.publish([], ["a"], used)
    assert git(one, "show", f"{tag}:params.yaml") == used["params.yaml"].strip()
    assert "Uncommitted: params.yaml" in git(one, "log", "-1", "--format=%B", tag)
    assert (one / "params.yaml").read_text() == "day: 9\n", "the next run uses them"
