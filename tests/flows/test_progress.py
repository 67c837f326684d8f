"""The progress of a run as lines, and which stages get the slots."""

from __future__ import annotations

import threading

import pytest

from flows import slots
from flows.commands import StageFailed
from flows.graph import StageTask
from flows.progress import Progress
from flows.slots import Slots, default_sizes
from tests.support import until


def chain(**needs: str) -> list[StageTask]:
    return [StageTask(name, "", tuple(ups), pool="cpu") for name, ups in needs.items()]


def test_stages_are_counted_once_beside_those_that_are_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    stages = chain(a="", b="", c="", d="", e="", f="")
    progress = Progress({"b"}, stages, stages[1:])
    for stage in (stages[1], stages[1]):  # it is tried twice
        with progress.running(stage):
            pass
    for stage in stages[1:5]:
        progress.done(stage)
    with progress.running(stages[5]):
        pass
    progress.ran |= {"b", "f"}
    progress.close()
    lines = [line.partition("] ")[2] for line in capsys.readouterr().err.splitlines()]
    assert lines == ["stage 2 of 6: b"] * 2 + ["stage 6 of 6: f (about 00:00 left)", "2 stages ran, 1 were up to date"]


def test_the_longest_chain_gets_the_slot_and_a_pool_without_size_shares_those_of_cpu() -> None:
    stages = chain(a="", b="", c="", d="c", e="d", f="")
    stages[-1] = StageTask("f", "", ("b",), pool="gpu")
    result, order, threads = Slots({"cpu": 1}, stages), list[str](), list[threading.Thread]()

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
    assert order == ["c", "b", "f"]


def test_no_stage_starts_after_the_run_was_ended() -> None:
    stages, caught = chain(a="", b=""), list[StageFailed]()
    result = Slots({"cpu": 1}, stages)

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
