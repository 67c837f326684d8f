"""A training on several nodes of a real cluster gives what one process gives, and continues exactly when a node is killed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from components.execution.ray_engine import RayEngine
from tests.execution import ray_training
from tests.support import HANG, InlineEngine, until
from tests.support.execution import ray_support

LOSS, SCORE = 1e-4, 1e-3
"""Largest differences from one process: of an epoch's mean loss, relative; of its validation score.

Each rank sums the gradients of its part of a batch, so sums are rounded in another order, by 6e-8 of their parts. Adam divides a
gradient by its size, so the difference grows over the steps of this training; losses are means over a whole epoch.
"""


def compare(folder: Path, one: Path) -> None:
    """Require that the results in both folders are equal up to rounding."""
    ours, theirs = ([line.split(",") for line in (each / "history.csv").read_text().splitlines()] for each in (folder, one))
    assert len(ours) == len(theirs) == 5
    # The self-critical phase, the last epoch, samples captions in each rank.
    for row, other in zip(ours[1:4], theirs[1:4], strict=True):
        assert row[:2] == other[:2] and float(row[2]) == pytest.approx(float(other[2]), rel=LOSS)
        assert float(row[3]) == pytest.approx(float(other[3]), abs=SCORE)


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [2, 3])
def test_several_nodes_train_what_one_process_trains(cluster: Any, tmp_path: Path, nodes: int) -> None:
    one = ray_training.train_on(InlineEngine(), tmp_path, "one")
    compare(ray_training.train_on(RayEngine(cluster.address), tmp_path, "several", nodes=nodes), one)


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [2, 3])
def test_a_node_killed_inside_an_epoch_changes_no_byte(tmp_path: Path, nodes: int) -> None:
    # A cluster of just these nodes, so that the victim has a rank, and the group waits for another node.
    with ray_support.loopback_cluster(nodes) as cluster:
        victim = cluster.spare[-1]
        engine = RayEngine(cluster.address, wait=HANG)
        kept = ray_training.train_on(engine, tmp_path, "kept", nodes=nodes, dropout=0.2)
        work = tmp_path / "killed" / ".hearsight" / "work" / "english" / "train_captioner"
        work.mkdir(parents=True)
        (work / ray_training.VICTIM).write_text(victim.node_id)

        with ThreadPoolExecutor(1) as threads:
            training = threads.submit(ray_training.train_on, engine, tmp_path, "killed", nodes=nodes, dropout=0.2)
            until(lambda: training.done() or (work / ray_training.HELD).exists())
            cluster.remove_node(victim, allow_graceful=False)
            ray_support.add_node(cluster, nodes + 1)  # Ray starts nodes in the main thread only
            killed = training.result()
        assert (work / ray_training.HELD).exists()
    for name in ("weights.safetensors", "config.json", "history.csv"):
        assert (killed / name).read_bytes() == (kept / name).read_bytes(), name
