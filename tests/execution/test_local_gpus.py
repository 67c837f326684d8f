"""The local engine gives each item GPUs of its own. It counts them by CUDA_VISIBLE_DEVICES, so no GPU is needed here."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.execution.engine import LocalEngine
from components.execution.resources import CORE, Resources, local_gpus
from components.training.settings import Hardware, Inference
from tests.execution import ray_work
from tests.support import until
from tests.support.execution.gpu_shares import shared_at_once


@pytest.fixture(autouse=True)
def _three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,3,GPU-5f")


def hold(folder: Path, together: int, item: int) -> tuple[str, float, float]:
    """As ``ray_work.hold_gpu``, after ``together`` items have begun."""
    begun = time.time()
    (folder / f"{item}.begun").touch()
    until(lambda: len(list(folder.glob("*.begun"))) >= together)
    gpus, _, ended = ray_work.hold_gpu(folder, item)
    return gpus, begun, ended


def test_three_items_on_three_gpus_run_at_once_and_share_none(tmp_path: Path) -> None:
    held = [result for _, result in LocalEngine(0).run(partial(hold, tmp_path, 3), range(3), Resources(gpus=1))]
    assert sorted(gpus for gpus, _, _ in held) == [":0", ":3", ":GPU-5f"]


def test_three_items_on_one_gpu_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2")
    held = [result for _, result in LocalEngine(4).run(partial(hold, tmp_path, 1), range(3), Resources(gpus=1))]
    assert [gpus for gpus, _, _ in held] == [":2"] * 3 and not shared_at_once(held)


def test_an_item_gets_as_many_gpus_as_it_asks_for(tmp_path: Path) -> None:
    held = [result for _, result in LocalEngine(0).run(partial(hold, tmp_path, 1), range(2), Resources(gpus=2))]
    assert [gpus for gpus, _, _ in held] == [":0,3"] * 2 and not shared_at_once(held)


def test_a_gpu_whose_worker_was_killed_is_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    results = dict(LocalEngine(0).run(partial(ray_work.die_once, tmp_path), [0, 1, 2], Resources(gpus=1)))
    assert results == {0: 0, 1: 10, 2: 20}


def test_an_item_that_needs_no_gpu_sees_none(tmp_path: Path) -> None:
    ((_, (gpus, _, _)),) = LocalEngine(1).run(partial(hold, tmp_path, 1), [0], CORE)
    assert gpus == ":" and os.environ["CUDA_VISIBLE_DEVICES"] == "0,3,GPU-5f"


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        (Resources(gpus=4), r"^hardware.devices: an item needs 4 GPUs and this machine has 3 — lower devices"),
        (Resources(nodes=2), r"^hardware.nodes: 2 nodes are more than the local engine has — set engine: \{kind: ray\}"),
    ],
)
def test_more_than_the_machine_has_is_one_line(resources: Resources, message: str) -> None:
    with pytest.raises(HearsightError, match=message):
        list(LocalEngine(0).run(len, [""], resources))


@pytest.mark.parametrize(("listed", "found"), [("", []), ("-1", []), ("1, 2", ["1", "2"]), ("0,-1,2", ["0"])])
def test_gpus_are_counted_as_cuda_does(monkeypatch: pytest.MonkeyPatch, listed: str, found: list[str]) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", listed)
    assert local_gpus() == found


def test_settings_say_what_a_job_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = LocalEngine(0)
    monkeypatch.setattr(engine, "device", lambda accelerator: "gpu" if accelerator != "cpu" else "cpu")
    assert Inference(accelerator="gpu").resources(engine) == Resources(gpus=1) and Inference().resources(engine) == CORE
    whole = Hardware(accelerator="auto", devices=4, nodes=2, threads=3)
    assert whole.resources(engine) == Resources(gpus=4, cpus=12, nodes=2, processes=4) and whole.resources(engine).world == 8
    assert Hardware(devices=2).resources(engine) == Resources(cpus=2, processes=2)
