"""How many stages run at once, and which first. Does not import Prefect."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from components.core.machine import usable_cores
from flows.commands import StageFailed
from flows.graph import StageTask

MOST = 4
"""Stages at once on the processor, however many cores: the slow parts of a stage use all cores, and each takes memory."""
DEVICES, OF_GPU = Path("/dev"), ("nvidia[0-9]*", "kfd")
"""What the drivers of GPUs make that torch can use."""


def default_sizes() -> dict[str, int]:
    """Return pool → concurrent stages; without a GPU, stages of the pool ``gpu`` have no slots of their own."""
    gpu = {"gpu": 1} if any(found for pattern in OF_GPU for found in DEVICES.glob(pattern)) else {}
    return {"cpu": min(usable_cores(), MOST), "network": 2, **gpu}


class Slots:
    """Slots of each pool. Of the stages that wait for one, that with the longest way to the end of the graph gets it."""

    def __init__(self, sizes: Mapping[str, int], stages: Sequence[StageTask], expected: Mapping[str, float]) -> None:
        """Make slots; stages of a pool without size share the slots of ``cpu``.

        Args:
            stages: in running order.
            expected: address → seconds that the stage takes; others take none.
        """
        self._free = dict(sizes)
        self._way: dict[str, float] = {}
        for stage in reversed(stages):
            self._way[stage.address] = self._way.get(stage.address, 0.0) + expected.get(stage.address, 0.0)
            for up in stage.upstream:
                self._way[up] = max(self._way.get(up, 0.0), self._way[stage.address])
        self._waiting: dict[str, list[tuple[float, str]]] = {}
        self._changed, self._closed = threading.Condition(), False

    def require_open(self, stage: StageTask) -> None:
        """Raise StageFailed if the run was ended: then the stage is not tried again."""
        if self._closed:
            raise StageFailed(stage.address, "the run was ended", refused=True)

    @contextmanager
    def take(self, stage: StageTask) -> Iterator[None]:
        """Hold a slot during the block.

        Raises:
            StageFailed: the run was ended meanwhile.
        """
        pool = stage.pool if stage.pool in self._free else "cpu"
        ticket = (-self._way[stage.address], stage.address)
        waiting = self._waiting.setdefault(pool, [])
        with self._changed:
            waiting.append(ticket)
            self._changed.wait_for(lambda: self._closed or (self._free[pool] > 0 and ticket == min(waiting)))
            waiting.remove(ticket)
            self.require_open(stage)
            self._free[pool] -= 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._free[pool] += 1
                self._changed.notify_all()

    def close(self) -> None:
        """Let no further stage start."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
