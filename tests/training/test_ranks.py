"""Several processes, forked for the devices of one machine, train what one trains."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from components.core.errors import HearsightError
from components.stages.train_captioner.jobs import train
from components.training.batches import EpochBatches
from components.training.settings import REFERENCE
from tests.support import PROJECT
from tests.support.train_captioner.project import SmallNetwork, prepared, spec_of, task_of

pytestmark = pytest.mark.long

PHASE = {"epochs": 1, "batch": 4, "samples": 2, "baseline": "mean", "learning_rate": 0.001}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.stages.train_captioner.jobs.build", SmallNetwork)
    torch.set_num_threads(1)


def spec() -> dict[str, Any]:
    # Without dropout all that is drawn is keyed by the record, but for the samples of the second phase, drawn by each rank.
    return spec_of(dropout=0.0, ema=0.5, self_critical=PHASE)


def apart(check: str, folder: Path) -> None:
    """Run a function of this module in an interpreter of its own: processes forked here would take over what other tests left."""
    begun = "from pathlib import Path; from tests.training import test_ranks as here; here.begin()"
    code = f"{begun}; here.{check}(Path({str(folder)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]


def begin() -> None:
    """What the fixture sets, for an interpreter that has no fixtures."""
    from components.models import captioners

    captioners.build = SmallNetwork  # type: ignore[assignment]
    torch.set_num_threads(1)


def test_two_forked_processes_train_like_one(tmp_path: Path) -> None:
    apart("two_processes", tmp_path)


def two_processes(tmp_path: Path) -> None:
    source = prepared(tmp_path)
    one = train(spec(), task_of(tmp_path, source)).recipe
    two = train(spec(), task_of(tmp_path, source, REFERENCE.model_copy(update={"devices": 2}))).recipe
    assert len(one.history) == len(two.history) == 4
    for ours, theirs in zip(one.history[:3], two.history[:3], strict=True):
        assert theirs["loss"] == pytest.approx(ours["loss"], rel=1e-4)
        assert theirs["validation"] == pytest.approx(ours["validation"], abs=1e-3)
    assert two.steps == one.steps and "reward" in two.history[3]
    # Of the phase whose steps draw nothing by rank.
    for name, tensor in one.best["weights"].items() if one.best["epoch"] < 3 else ():
        torch.testing.assert_close(two.best["weights"][name], tensor, rtol=0, atol=1e-4)


def test_an_error_in_a_forked_process_becomes_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SmallNetwork, "encode", lambda self, features: self.read(features.mean(1)) * float("nan"))
    with pytest.raises(HearsightError, match=r"the loss is nan in epoch 0, step 0, .*; records k") as caught:
        train(spec(), task_of(tmp_path, prepared(tmp_path), REFERENCE.model_copy(update={"devices": 2})))
    assert "\n" not in str(caught.value)


def test_ranks_partition_every_batch(tmp_path: Path) -> None:
    def parts(rank: int) -> list[list[int]]:
        return list(EpochBatches(11, 4, 1, rank=rank, world=2))

    whole, shared = list(EpochBatches(11, 4, 1)), list(zip(parts(0), parts(1), strict=True))
    assert [sorted(left + right) for left, right in shared] == [sorted(batch) for batch in whole]
    resumed = EpochBatches(11, 4, 1, by_epoch=True)
    resumed.resume(0, 2)
    assert list(resumed) == [[(0, item) for item in whole[2]]] and len(resumed) == 3
    resumed.set_epoch(1)
    assert len(list(resumed)) == 3


def test_fewer_items_than_devices_are_refused(tmp_path: Path) -> None:
    task = task_of(tmp_path, prepared(tmp_path, training=2), REFERENCE.model_copy(update={"devices": 3}))
    with pytest.raises(HearsightError, match="2 training items for 3 devices"):
        train(spec(), task)
