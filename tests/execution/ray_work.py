"""Work that the Ray tests give to workers: picklable by name, and the markers by which a test follows it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
from components.execution.process import sole_writer
from components.execution.ranks import checkpoint_written, rank_number
from components.execution.ray_engine import RayEngine
from components.execution.resources import CORE
from components.execution.stage import Job
from tests.support import make_stage, until


def where_am_i() -> str:
    import ray

    return str(ray.get_runtime_context().get_node_id())


def slowly(work: Callable[[Any], Any], marks: Path, victim: str, item: Any) -> Any:
    """``work(item)`` after a second, leaving a mark named after the node at its beginning and its end.

    On the node that is going to be killed it waits until it is.
    """
    node = where_am_i()
    name = f"{node}-{uuid.uuid4().hex[:8]}"
    (marks / f"{name}.begun").touch()
    time.sleep(600.0 if node == victim else 1.0)
    result = work(item)
    (marks / f"{name}.ended").touch()
    return result


class SlowRay(RayEngine):
    """The real engine, its work slowed down so that a node can be killed in the middle of it."""

    def __init__(self, address: str, marks: Path, victim: str) -> None:
        super().__init__(address)
        self.marks, self.victim = marks, victim

    def run(self, work, items, resources=CORE):
        return super().run(partial(slowly, work, self.marks, self.victim), items, resources)


def die_once(marks: Path, item: int) -> int:
    (marks / f"{item}-{uuid.uuid4().hex[:8]}").touch()
    if item == 1 and len(list(marks.glob("1-*"))) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return item * 10


def die_for_b(spec: str, task: Any, folder: Path) -> None:
    with (task.work / f"tried-{spec}").open("a") as tried:
        tried.write("x")
    if spec == "b":
        os.kill(os.getpid(), signal.SIGKILL)
    (folder / "made.txt").write_text(spec)


def fail(item: str) -> Any:
    if item == "correctable":
        raise HearsightError("is torn", where="a/shard", hint="make it again")
    if item == "defect":
        raise ZeroDivisionError("no such luck")
    return lambda: item


class Squares:
    name, version, model, codec = "squares", 1, "none", "json"

    def compute(self, payload: int) -> int:
        return payload * payload


class Songs:
    """Results that do not fit into a message and go through the shared memory."""

    name, version, model, codec = "songs", 1, "none", "bytes"

    def compute(self, payload: int) -> bytes:
        return bytes([payload]) * 500_000


def sing(store: ResultCache, item: int) -> dict[int, int]:
    result = store.annotate(Songs(), {f"{n}": n for n in range(100)})
    return {int(key): song.count(int(key)) for key, song in result.items()}


def annotate_without_sqlite(store: ResultCache, item: int) -> tuple[dict[str, int], dict[str, int]]:
    """Annotate in a worker in which opening any SQLite file fails."""

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a worker opened SQLite")

    connect, sqlite3.connect = sqlite3.connect, refuse  # type: ignore[assignment]
    try:
        return store.annotate(Squares(), {f"{n}": n for n in range(item, item + 100)}), store.computed
    finally:
        sqlite3.connect = connect


def surroundings(item: int) -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "HEARSIGHT_MARK")}


RANK = ("RANK", "LOCAL_RANK", "NODE_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "CUDA_VISIBLE_DEVICES")


def meet(folder: Path, item: str) -> int:
    """Wait for all ranks of the group; leave a file with this rank's environment. An item names what goes wrong:

    ``die once``: rank 1 is killed in the first attempt. ``die``: in each. ``progress``: in each of the first three, after a
    checkpoint of rank 0. ``break``: rank 1 raises what a lost connection does. ``correctable``: an error that a user can correct.
    """
    rank, world = rank_number(), int(os.environ["WORLD_SIZE"])
    about = {name: os.environ.get(name) for name in RANK} | {"node": where_am_i()}
    attempt = len(list(folder.glob(f"{item}-{rank}-*")))
    (folder / f"{item}-{rank}-{attempt}.tmp").write_text(json.dumps(about))
    (folder / f"{item}-{rank}-{attempt}.tmp").rename(folder / f"{item}-{rank}-{attempt}.json")
    until(lambda: len(list(folder.glob(f"{item}-*-{attempt}.json"))) == world)
    if item == "progress" and rank == 0 and attempt < 3:
        checkpoint_written()
        (folder / f"written-{attempt}").touch()
    if item == "progress" and attempt < 3:
        until((folder / f"written-{attempt}").exists)
        time.sleep(0.5)
    if rank == 1 and (item == "die" or (item == "die once" and attempt == 0) or (item == "progress" and attempt < 3)):
        os.kill(os.getpid(), signal.SIGKILL)
    if rank == 0 and (item == "die" or (item == "die once" and attempt == 0)):
        time.sleep(600.0)  # as in a collective operation without its peer
    if item == "break":
        raise RuntimeError("Connection closed by peer")
    if item == "correctable":
        raise HearsightError("is torn", where="a/shard", hint="make it again")
    return rank


def hold_gpu(folder: Path, item: int) -> tuple[str, float, float]:
    """Return this worker's GPUs, with its node if there is a cluster, and when it began and ended."""
    begun = time.time()
    (folder / f"{item}.held").touch()
    time.sleep(0.5)
    node = where_am_i() if "ray" in sys.modules else ""
    return f"{node}:{os.environ['CUDA_VISIBLE_DEVICES']}", begun, time.time()


def beat(folder: Path, item: int) -> int:
    """Write to a file of its own, again and again, for a minute: a writer one can watch."""
    with (folder / f"{item}.beats").open("ab", buffering=0) as beats:
        for _ in range(3000):
            beats.write(b"x")
            time.sleep(0.02)
    return item


def wait_for_go(spec: str, task: Any, folder: Path) -> None:
    """Write a file; jobs other than ``a`` and ``b`` wait for the file ``go`` first."""
    with (task.work / f"tried-{spec}").open("a") as tried:
        tried.write("x")
    if spec not in "ab":
        until((task.work / "go").exists)
    (folder / "made.txt").write_text(spec)


def drive_jobs(root: str) -> None:
    """A run of its own process: the jobs a to d of a stage, cached, on the cluster of RAY_ADDRESS."""
    engine = RayEngine("auto")
    stage = make_stage(Path(root), "crawl", engine=engine)
    lock = Path(root) / "lock"
    with sole_writer(lock, "the jobs"), engine.open(Path(root), lock, [Path(root)]):
        folders = stage.jobs(wait_for_go, [Job(name, name) for name in "abcd"], step="go", params={})
    print(*((folder / "made.txt").read_text() for folder in folders))


def beats(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.glob("*.beats")}


def drive(address: str, root: str, items: str) -> None:
    """A run of its own process: beats for each item, under the lock, on the cluster."""
    lock, engine = Path(root) / "lock", RayEngine(address)
    with sole_writer(lock, "the beats"), engine.open(Path(root), lock, [Path(root)]):
        for index, result in engine.run(partial(beat, Path(root)), list(range(int(items)))):
            print(index, result, flush=True)


if __name__ == "__main__":
    drive_jobs(*sys.argv[2:]) if sys.argv[1] == "jobs" else drive(*sys.argv[1:])
