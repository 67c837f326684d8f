"""Nobody writes while a worker of another run still does, and a worker that comes late does nothing."""

from __future__ import annotations

import base64
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from components.core import shard_cache
from components.core.errors import HearsightError
from components.core.shard_cache import ShardCache, machine_id
from components.execution import process, writer_lock
from components.execution.process import sole_writer
from components.execution.writer_lock import WriterLock
from tests.support import HANG

WORKER = """
    import base64, pickle, sys, time
    with pickle.loads(base64.b64decode(sys.argv[1])).hold_item(int(sys.argv[2])):
        print("working", flush=True)
        time.sleep(60)
"""


def worker(of: WriterLock, piece: int) -> subprocess.Popen[str]:
    """A process that is nobody's child in spirit: it inherits no lock, and works on ``piece`` until it is killed."""
    code, claim = textwrap.dedent(WORKER), base64.b64encode(pickle.dumps(of)).decode()
    process = subprocess.Popen([sys.executable, "-c", code, claim, str(piece)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "working\n"
    return process


def end(running: subprocess.Popen[str]) -> None:
    running.kill()
    running.communicate()


@pytest.fixture
def claim(tmp_path: Path) -> WriterLock:
    return WriterLock.acquire(WriterLock.path_for(tmp_path / "lock"), "it", 0.0)


def test_a_new_writer_waits_for_the_last_task_on_every_engine(tmp_path, claim, monkeypatch):
    monkeypatch.setattr(process, "LOCK_PATIENCE", 0.3)
    running = worker(claim, 7)
    try:
        late = pytest.raises(HearsightError, match="it is still being written by a task of an earlier run")
        with late, sole_writer(tmp_path / "lock", "it"):
            raise AssertionError
        # Killed -9 a second from now, it lets the waiting writer in.
        monkeypatch.setattr(process, "LOCK_PATIENCE", HANG)
        began = time.monotonic()
        subprocess.Popen(["sh", "-c", f"sleep 1; kill -9 {running.pid}"])
        with sole_writer(tmp_path / "lock", "it"):
            assert time.monotonic() - began > 0.5
    finally:
        end(running)


def test_work_that_starts_after_another_run_took_over_is_refused(tmp_path, claim):
    with sole_writer(tmp_path / "lock", "it"):
        pass
    with pytest.raises(HearsightError, match="a later run has taken over"), claim.hold_item(0):
        raise AssertionError


def test_attempts_of_one_task_never_overlap_and_other_tasks_do(claim, monkeypatch):
    monkeypatch.setattr(writer_lock, "OVERLAP", 0.3)
    running = worker(claim, 3)
    try:
        with claim.hold_item(4):
            pass
        with pytest.raises(HearsightError, match="an earlier attempt of the same work does not end"), claim.hold_item(3):
            raise AssertionError
    finally:
        end(running)
    with claim.hold_item(3):
        pass


def test_a_machine_that_cannot_see_the_lock_file_is_named(tmp_path):
    with (
        pytest.raises(HearsightError, match=f"cannot be seen from node {os.uname().nodename}"),
        WriterLock(tmp_path / "x", "t").hold_item(0),
    ):
        raise AssertionError


def test_the_drivers_lock_is_held_exactly_while_it_runs(claim):
    ask = "import base64, pickle, sys; print(pickle.loads(base64.b64decode(sys.argv[1])).reaches_this_machine())"
    command = [sys.executable, "-c", ask, base64.b64encode(pickle.dumps(claim)).decode()]
    with claim.hold_driver_byte():
        assert subprocess.check_output(command, text=True) == "True\n"
    assert subprocess.check_output(command, text=True) == "False\n"


def test_local_runs_leave_no_writer_lock_file(tmp_path):
    with sole_writer(tmp_path / "lock", "it"):
        assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_the_sweep_removes_files_of_ended_processes_here_and_only_old_ones_of_other_machines(tmp_path):
    dead = subprocess.Popen(["true"])
    dead.wait()
    names = {
        "mine-alive": f"a.tmp-{machine_id()}-{os.getpid()}",
        "mine-dead": f"b.tmp-{machine_id()}-{dead.pid}",
        # The same process number on another machine: alive there, for all we know.
        "other": f"c.tmp-0123abcd-{dead.pid}",
        "other-old": f"d.tmp-0123abcd-{dead.pid}",
    }
    for name in names.values():
        (tmp_path / "step" / name).mkdir(parents=True)
    long_ago = time.time() - shard_cache.STALE_AFTER - 60
    os.utime(tmp_path / "step" / names["other-old"], (long_ago, long_ago))
    ShardCache(tmp_path).sweep()
    assert {path.name for path in (tmp_path / "step").iterdir()} == {names["mine-alive"], names["other"]}


def test_a_killed_filler_leaves_a_folder_that_the_next_sweep_removes(tmp_path):
    code = (
        "import sys, os, signal, pathlib; from components.core.shard_cache import ShardCache\n"
        "ShardCache(pathlib.Path(sys.argv[1])).get('step', 1, lambda folder: os.kill(os.getpid(), signal.SIGKILL))"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob("step/*.tmp-*"))) == 1
    ShardCache(tmp_path).sweep()
    assert list(tmp_path.glob("step/*")) == []
