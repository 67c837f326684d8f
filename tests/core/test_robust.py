"""No two writers, no orphans, no half-written file, and one clear line when the disk is full."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from components.core import result_files
from components.core.errors import HearsightError
from components.core.files import remove_abandoned
from components.core.result_cache import ResultCache
from components.core.result_files import sqlite_backend
from components.execution import process, ray_node
from components.execution.process import sole_writer
from components.execution.ray_node import CacheServer, ServedFiles
from tests.support import alive, until


def python(code: str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), *map(str, args)], stdout=subprocess.PIPE, text=True)


def gone(pid: int) -> bool:
    return until(lambda: not alive(pid))


RUNNER = """
    import sys, os, time
    from pathlib import Path
    from components.execution.engine import LocalEngine
    from components.execution.process import sole_writer
    def work(item):
        os.write(1, b"%d\\n" % os.getpid())  # whole: print may write a line's end apart, after the other's number
        time.sleep(60)
    with sole_writer(Path(sys.argv[1]), "it"):
        list(LocalEngine(2).run(work, [1, 2]))
"""


def test_workers_die_with_a_killed_runner_and_free_its_lock(tmp_path):
    lock = tmp_path / "lock"
    runner = python(RUNNER, lock)
    workers = [int(runner.stdout.readline()) for _ in range(2)]
    os.kill(runner.pid, signal.SIGKILL)
    runner.wait()
    assert all(gone(pid) for pid in workers)
    with sole_writer(lock, "it"):
        pass


def test_a_second_writer_is_refused_with_the_first_ones_pid(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "LOCK_PATIENCE", 0.2)
    runner = python(RUNNER, tmp_path / "lock")
    runner.stdout.readline()
    try:
        with pytest.raises(HearsightError, match=f"written by process {runner.pid}"), sole_writer(tmp_path / "lock", "it"):
            pass
    finally:
        runner.kill()
        runner.wait()


def test_a_process_ends_with_a_named_ancestor_behind_a_shell(tmp_path):
    # The ancestor is a script named dvc; a shell stands between it and the runner.
    child = tmp_path / "child.py"
    child.write_text(
        "import os, time\nfrom components.execution.process import die_with_ancestor\ndie_with_ancestor('dvc')\n"
        "print(os.getpid(), flush=True)\ntime.sleep(60)\n"
    )
    script = tmp_path / "dvc"
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(child))}; true"
    script.write_text(f"import subprocess\nsubprocess.run(['sh', '-c', {command!r}])\n")
    ancestor = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    child_pid = int(ancestor.stdout.readline())
    os.kill(ancestor.pid, signal.SIGKILL)
    ancestor.wait()
    assert gone(child_pid)


def test_what_a_killed_writer_left_is_removed_and_no_other_file(tmp_path):
    for name in (".a.json.12-34.tmp", ".ab.json.12-34.tmp", "a.json", "a.json.tmp"):
        (tmp_path / name).touch()
    remove_abandoned(tmp_path, "a.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".ab.json.12-34.tmp", "a.json", "a.json.tmp"]


FULL = """
    from pathlib import Path
    import sys
    from components.core.shard_cache import ShardCache
    from components.core.errors import HearsightError
    folder = Path(sys.argv[1])
    cache = ShardCache(folder / "cache")
    cache.get("step", 1, lambda f: (f / "a").write_bytes(b"x" * 1000))
    try:
        cache.get("step", 2, lambda f: (f / "a").write_bytes(b"x" * 10_000_000))
    except HearsightError as error:
        left = sorted(p.name for p in (folder / "cache" / "step").iterdir())
        _, hit = cache.get("step", 1, lambda f: None)
        print(len(left), hit, error)
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare")
def test_a_cache_on_a_full_disk_keeps_finished_results_and_no_partial_one(tmp_path):
    command = f'mount -t tmpfs -o size=1m none {tmp_path} && exec "$0" "$@"'
    arguments = ["unshare", "-rm", "sh", "-c", command, sys.executable, "-c", textwrap.dedent(FULL), str(tmp_path)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if (done.returncode and "unshare" in done.stderr + done.stdout) or "mount" in done.stderr:
        pytest.skip("this host lets no user mount a file system of its own")
    assert done.stdout.startswith("1 True"), done
    assert "no space is left on the disk" in done.stdout


class Counting:
    name, version, model, codec = "count", 1, "none", "json"

    def __init__(self) -> None:
        self.calls: list[str] = []

    def compute(self, payload: str) -> int:
        self.calls.append(payload)
        return len(payload)


def test_an_annotation_is_computed_once_and_payloads_are_fetched_only_when_missing(tmp_path):
    store, annotator = ResultCache(tmp_path), Counting()
    assert store.annotate(annotator, {"a": "xx", "b": lambda: "yyy"}) == {"a": 2, "b": 3}

    def never() -> str:
        raise AssertionError

    assert store.annotate(annotator, {"b": never, "a": never}) == {"b": 3, "a": 2}
    assert annotator.calls == ["xx", "yyy"]


def test_another_version_of_an_annotator_computes_again(tmp_path):
    annotator = Counting()
    ResultCache(tmp_path).annotate(annotator, {"a": "x"})
    annotator.version = 2
    ResultCache(tmp_path).annotate(annotator, {"a": "x"})
    assert len(annotator.calls) == 2


def test_a_damaged_annotation_store_names_the_file_and_the_command_that_repairs_it(tmp_path):
    ResultCache(tmp_path).annotate(Counting(), {"a": "x"})
    (path,) = tmp_path.glob("*.sqlite")
    path.write_bytes(b"this is not a database, not at all" * 100)
    with pytest.raises(HearsightError, match=r"count-v1-none\.sqlite.*hearsight cache repair"):
        ResultCache(tmp_path).annotate(Counting(), {"b": "x"})


STORE = """
    import sys
    from pathlib import Path
    from components.core.result_cache import ResultCache
    class Count:
        name, version, model, codec = "count", 1, "none", "json"
        def compute(self, payload):
            return payload
    for n in range(40):
        ResultCache(Path(sys.argv[1])).annotate(Count(), {f"{sys.argv[2]}-{n}": n, f"both-{n}": n})
"""


class Bought(Counting):
    def ask_many(self, payloads: Iterable[tuple[str, str]]) -> Iterator[tuple[str, int]]:
        return ((key, self.compute(payload)) for key, payload in payloads)


class Here:
    """The annotation keeper in this process, asked as Ray asks its actors."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method

    def remote(self, *arguments: Any, **options: Any) -> SimpleNamespace:
        done: Future[Any] = Future()
        done.set_result(self.method(*arguments, **options))
        return SimpleNamespace(future=lambda: done)


@pytest.mark.parametrize("by", ["itself", "the keeper of a cluster"])
def test_only_paid_results_are_flushed_to_disk(tmp_path, monkeypatch, by):
    waits: list[int] = []

    @contextmanager
    def watched(path: Path) -> Iterator[result_files.CacheBackend]:
        with sqlite_backend(path) as backend:
            yield backend
            waits.extend(backend.connection.execute("PRAGMA synchronous").fetchone())
            assert backend.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)

    keeper = SimpleNamespace(call=Here(CacheServer().call))
    monkeypatch.setattr(ray_node, "sqlite_backend", watched)
    store, free, bought = ResultCache(tmp_path, watched if by == "itself" else ServedFiles(keeper)), Counting(), Bought()
    bought.model = "another"
    store.annotate(free, {"a": "x"})
    assert waits.pop() == 1
    store.annotate(bought, {"a": "x"})
    assert waits.pop() == 2
    store.write(free, {"b": 1})
    assert waits.pop() == 2
    assert store.read(free, ["a", "b"]) == {"a": 1, "b": 1} and store.read(bought, ["a"]) == {"a": 1}


def test_many_workers_may_open_and_write_one_annotation_store_at_once(tmp_path):
    writers = [python(STORE, tmp_path, number) for number in range(6)]
    assert [writer.wait() for writer in writers] == [0] * 6
    result = ResultCache(tmp_path).annotate(Counting(), {f"{w}-{n}": "" for w in range(6) for n in range(40)})
    assert result == {f"{w}-{n}": n for w in range(6) for n in range(40)}
