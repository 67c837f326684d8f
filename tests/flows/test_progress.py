"""The progress of a run as lines, and which stages get the slots."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from components.core.progress import duration
from components.execution.run_log import FINISHED, runs_file
from flows import progress, slots
from flows.commands import StageFailed
from flows.graph import StageTask
from flows.progress import OVERHEAD, Progress, expected_seconds
from flows.slots import Slots, default_sizes
from tests.support import until


def chain(**needs: str) -> list[StageTask]:
    return [StageTask(name, "", tuple(ups), pool="cpu") for name, ups in needs.items()]


def test_stages_are_counted_once_beside_those_that_are_up_to_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stages = chain(a="", b="", c="", d="", e="", f="")
    shown = Progress({"b"}, stages, {stage.address: expected_seconds(tmp_path, stage, {}) for stage in stages[1:]})
    for stage in (stages[1], stages[1]):  # it is tried twice
        with shown.running(stage):
            pass
    for stage in stages[1:5]:
        shown.done(stage)
    with shown.running(stages[5]):
        pass
    shown.ran |= {"b", "f"}
    shown.close()
    lines = [line.partition("] ")[2] for line in capsys.readouterr().err.splitlines()]
    assert lines == ["stage 2 of 6: b"] * 2 + ["stage 6 of 6: f (about 00:00 left)", "2 stages ran, 4 were up to date"]


def test_the_time_left_is_that_of_earlier_runs_and_of_the_demo_where_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("crawl", "filter", "dedup", "split", "own")
    stages = [StageTask(f"{name}@d", f"hearsight run {name} --dataset d", ()) for name in names]
    ran = runs_file(tmp_path / ".hearsight", "d", "own")
    ran.parent.mkdir(parents=True)
    ran.write_text("".join(json.dumps({"event": FINISHED, "time": "", "seconds": seconds}) + "\n" for seconds in (90, 1000, 110)))
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    shown = Progress(set(), stages, {stage.address: expected_seconds(tmp_path, stage, {"own@d": 1.0}) for stage in stages})
    for stage in stages[:3]:
        shown.done(stage)
    clock[0] = 2 * (60 + 150 + 85 + 3 * OVERHEAD)  # twice as long as in the demo
    with shown.running(stages[3]):
        clock[0] += 5 + OVERHEAD
    shown.done(stages[3])
    with shown.running(stages[4]):
        pass
    shown.close()
    left = [line.partition("(about ")[2] for line in capsys.readouterr().err.splitlines()[:2]]
    assert left[0] == f"{duration(2 * (5 + 110 + 2 * OVERHEAD))} left)", "own took 110 s as a median"
    assert left[1] == f"{duration((110 + OVERHEAD) * 665 / 340)} left)"


@pytest.mark.parametrize(("of_b", "expected"), [(9.0, ["c", "b", "f"]), (12.0, ["b", "c", "f"])])
def test_the_longest_way_to_the_end_gets_the_slot_and_a_pool_without_size_shares_those_of_cpu(
    of_b: float, expected: list[str]
) -> None:
    stages = chain(a="", b="", c="", d="c", e="d", f="")
    stages[-1] = StageTask("f", "", ("b",), pool="gpu")
    seconds = {"a": 1.0, "b": of_b, "c": 2.0, "d": 4.0, "e": 5.0, "f": 1.0}
    result, order, threads = Slots({"cpu": 1}, stages, seconds), list[str](), list[threading.Thread]()

    def run(stage: StageTask) -> None:
        with result.take(stage):
            order.append(stage.address)

    with result.take(stages[0]):
        for stage in (stages[1], stages[2], stages[5]):
            threads.append(threading.Thread(target=run, args=(stage,)))
            threads[-1].start()
        until(lambda: len(result._waiting["cpu"]) == 3)
        assert order == []
    for thread in threads:
        thread.join()
    assert order == expected


def test_no_stage_starts_after_the_run_was_ended() -> None:
    stages, caught = chain(a="", b=""), list[StageFailed]()
    result = Slots({"cpu": 1}, stages, {})

    def run() -> None:
        try:
            with result.take(stages[1]):
                pass
        except StageFailed as error:
            caught.append(error)

    with result.take(stages[0]):
        thread = threading.Thread(target=run)
        thread.start()
        result.close()
        thread.join(60)
    assert [error.refused for error in caught] == [True]


@pytest.mark.parametrize("gpu", [True, False])
def test_as_many_stages_run_as_cores_up_to_a_limit_and_a_gpu_has_its_own_slot(
    tmp_path, monkeypatch: pytest.MonkeyPatch, gpu: bool
) -> None:
    if gpu:
        (tmp_path / "nvidia0").touch()
    monkeypatch.setattr(slots, "DEVICES", tmp_path)
    for cores, at_once in ((1, 1), (2, 2), (64, 4)):
        monkeypatch.setattr(slots, "usable_cores", lambda cores=cores: cores)
        assert default_sizes() == {"cpu": at_once, "network": 2, **({"gpu": 1} if gpu else {})}
