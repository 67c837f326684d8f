"""The Ray engine on a real cluster of several nodes gives the local engine's bytes, also when nodes, workers or drivers die."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
from components.core.stage_output import StageOutput
from components.execution.engine import LocalEngine
from components.execution.process import sole_writer
from components.execution.ray_engine import RayEngine
from components.execution.stage import Job
from components.stages.crawl import image_decoding
from components.stages.crawl.run import run as crawl
from tests.execution import ray_work
from tests.support import PROJECT, make_stage, until
from tests.support.crawl.crawls import fixture_params
from tests.support.crawl.fixture_web import build_fixture_web
from tests.support.execution.ray_support import refusal

pytestmark = pytest.mark.long


def driver(cluster: Any, root: Path, items: int, address: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.execution.ray_work", address or cluster.address, str(root), str(items)]
    return subprocess.Popen(command, cwd=PROJECT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def still(folder: Path, over: float = 1.5) -> bool:
    """Whether nobody writes in ``folder``."""
    before = ray_work.beats(folder)
    time.sleep(over)
    return ray_work.beats(folder) == before


@pytest.mark.slow
def test_a_crawl_on_a_cluster_whose_node_is_killed_gives_the_local_engines_bytes(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(image_decoding, "IMAGES_PER_JOB", 3)
    build_fixture_web(tmp_path / "web", pages=8)
    marks, lock, manifests = tmp_path / "marks", tmp_path / "lock", []
    marks.mkdir()
    victim = cluster.spare.pop()

    def begun() -> list[Path]:
        ended = {path.stem for path in marks.glob("*.ended")}
        return [path for path in marks.glob(f"{victim.node_id}-*.begun") if path.stem not in ended]

    def kill() -> None:
        until(begun)
        cluster.remove_node(victim, allow_graceful=False)

    for engine in (LocalEngine(2), ray_work.SlowRay(cluster.address, marks, victim.node_id)):
        stage = make_stage(tmp_path, "crawl", params=fixture_params())
        stage.engine = engine
        if engine.name == "ray":
            killer = threading.Thread(target=kill)
            killer.start()
        with sole_writer(lock, "it"), engine.open(tmp_path, lock, (stage.state, tmp_path / "data")):
            crawl(stage)
        stage.finish()
        manifests.append((stage.out / "manifest.json").read_bytes())
        assert StageOutput(stage.out).table().num_rows > 20
        looks = stage.done["look"]
        shutil.rmtree(stage.out)
        shutil.rmtree(tmp_path / ".hearsight")
    killer.join()
    assert manifests[0] == manifests[1]
    # The victim held a task when it went, and that task alone was tried again.
    assert len(begun()) == 1 and len(list(marks.glob("*.begun"))) == looks + 1
    assert len({path.name.split("-")[0] for path in marks.glob("*.ended")}) >= 2, "one node did it all"


class TestOpened:
    """What needs the engine only once opened."""

    @pytest.fixture(scope="class")
    def engine(self, cluster, tmp_path_factory) -> Iterator[RayEngine]:
        root = tmp_path_factory.mktemp("opened")
        engine = RayEngine(cluster.address)
        with engine.open(root, root / "lock", [root]):
            yield engine

    def test_a_worker_killed_once_costs_one_retry(self, engine, tmp_path):
        results = dict(engine.run(partial(ray_work.die_once, tmp_path), [0, 1, 2, 3]))
        assert results == {0: 0, 1: 10, 2: 20, 3: 30}
        assert len(list(tmp_path.glob("1-*"))) == 2 and len(list(tmp_path.iterdir())) == 5

    def test_a_task_that_always_kills_its_worker_is_named_in_the_error(self, engine, tmp_path):
        stage = make_stage(tmp_path, "crawl")
        stage.engine = engine
        with pytest.raises(HearsightError, match=r"crawl\.die, b: its worker died 3 times") as caught:
            stage.jobs(ray_work.die_for_b, [Job(name, name) for name in "abc"], step="die", params={})
        assert "\n" not in str(caught.value)
        assert (stage.work / "tried-b").read_text() == "xxx"

    def test_user_errors_keep_their_line_and_defects_their_traceback(self, engine):
        with pytest.raises(HearsightError, match=r"^a/shard: is torn — make it again$"):
            list(engine.run(ray_work.fail, ["correctable"]))
        with pytest.raises(ZeroDivisionError, match="no such luck") as caught:
            list(engine.run(ray_work.fail, ["defect"]))
        assert "ray_work.py" in caught.value.__notes__[0]
        with pytest.raises(RuntimeError, match="cannot be sent back"):
            list(engine.run(ray_work.fail, ["lambda"]))

    def test_annotations_go_through_one_process_on_this_machine(self, engine, tmp_path):
        results = dict(engine.run(partial(ray_work.annotate_without_sqlite, ResultCache(tmp_path, engine.opener)), [0, 0, 50]))
        for start, (result, _) in zip((0, 0, 50), (results[0], results[1], results[2]), strict=True):
            assert result == {f"{n}": n * n for n in range(start, start + 100)}
        ((again, computed),) = dict(
            engine.run(partial(ray_work.annotate_without_sqlite, ResultCache(tmp_path, engine.opener)), [20])
        ).values()
        assert len(again) == 100 and computed == {}
        assert len(list(tmp_path.glob("*.sqlite"))) == 1

    @pytest.mark.slow
    def test_annotations_of_megabytes_pass_in_pieces(self, engine, tmp_path):
        for _ in range(2):
            for _, result in engine.run(partial(ray_work.sing, ResultCache(tmp_path, engine.opener)), [0, 1]):
                assert result == dict.fromkeys(range(100), 500_000)

    def test_workers_have_one_numeric_thread_and_the_runs_settings(self, engine):
        ((_, result),) = engine.run(ray_work.surroundings, [0])
        assert result == {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "HEARSIGHT_MARK": "seen"}


def test_after_kill_9_of_the_driver_none_of_its_tasks_writes(cluster, tmp_path):
    run = driver(cluster, tmp_path, items=5)
    try:
        until(lambda: len(ray_work.beats(tmp_path)) >= 2 and all(ray_work.beats(tmp_path).values()))
        assert not still(tmp_path, 0.5)
    finally:
        run.kill()
        run.communicate()
    # The lock of a dead process is free at once; the writer lock waits for its tasks.
    with sole_writer(tmp_path / "lock", "the beats"):
        assert still(tmp_path)
    assert len(ray_work.beats(tmp_path)) < 5, "a queued task of the dead driver was begun"


@pytest.mark.slow
def test_an_interrupt_ends_every_task(cluster, tmp_path, request):
    engine = RayEngine(cluster.address)
    # What a shell starts in the background ignores interrupts, the tests there too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    watcher = threading.Thread(target=lambda: (until(lambda: ray_work.beats(tmp_path)), os.kill(os.getpid(), signal.SIGINT)))
    with pytest.raises(KeyboardInterrupt), engine.open(tmp_path, tmp_path / "lock", [tmp_path]):
        watcher.start()
        list(engine.run(partial(ray_work.beat, tmp_path), [0, 1, 2]))
    watcher.join()
    with sole_writer(tmp_path / "lock", "it"):
        assert still(tmp_path)


def test_a_node_that_does_not_see_the_folder_is_refused_by_name(cluster, tmp_path):
    # A folder that this process reaches through a file it has open; for every other process the path leads nowhere.
    opened = os.open(tmp_path, os.O_RDONLY)
    try:
        mine = Path(f"/proc/self/fd/{opened}")
        line = refusal(RayEngine(cluster.address), tmp_path / "lock", [tmp_path, mine])
        assert re.search(rf"node \S+ cannot see and write {mine} — mount", line) and not list(tmp_path.glob(".seen-*"))
    finally:
        os.close(opened)


def test_more_cores_than_any_node_has_is_refused(cluster, tmp_path):
    assert "nodes has 64 cores" in refusal(RayEngine(cluster.address, cpus=64), tmp_path / "lock", [tmp_path])


@pytest.mark.slow
def test_a_ray_client_runs_tasks_and_they_end_with_it(cluster, tmp_path):
    run = driver(cluster, tmp_path, 3, cluster.client)
    try:
        until(lambda: ray_work.beats(tmp_path))
    finally:
        run.kill()
        run.communicate()
    with sole_writer(tmp_path / "lock", "the beats"):
        assert still(tmp_path)
