"""``engine: ray``: the same work on a Ray cluster, to the same bytes.

Each shard or job is one task; a worker or node that dies costs one retry of what it held. The nodes share the
project's folder through a network file system, which is looked at before anything runs (``engine_ray_cluster``);
results land in the same content-keyed cache. What keeps two writers apart is ``fence``, not the cluster.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.result_cache import sqlite_backend, use_backend
from components.execution.engine import ATTEMPTS, worker_died
from components.execution.process import LOCK_PATIENCE
from components.execution.ray_cluster import check_nodes, connect, first_line, pin_to_node
from components.execution.ray_node import CacheServer, run_item, served_backend
from components.execution.writer_lock import WriterLock

NODE_ATTEMPTS = 10
"""How often an item is tried before the deaths of the nodes it ran on count as the item's fault."""
COUNT_INTERVAL = 5.0
"""Seconds between two counts of the cluster's cores."""
NO_NODE_LIMIT = 120.0
"""Seconds a run goes on hoping when no node is left."""


class RayEngine:
    """Tasks on a Ray cluster.

    Args:
        address: ``auto`` (the cluster this machine belongs to, or RAY_ADDRESS), ``host:port``, ``ray://host:port``,
            or ``local`` (a cluster of this machine alone, for as long as the run).
        workers: tasks at once at most; 0 takes what the cluster holds.
        cpus: cores a task.
    """

    name = "ray"

    def __init__(self, address: str = "auto", workers: int = 0, cpus: float = 1.0) -> None:
        self.address, self.workers, self.cpus = address, workers, cpus
        self._ray: Any = None
        self._writer_lock: WriterLock | None = None
        self._cache_server: Any = None
        self._pieces = 0

    @contextmanager
    def open(self, lock: Path, folders: Sequence[Path]) -> Iterator[None]:
        """See :class:`Engine`. Connects, looks at every node, and disconnects at the end, which ends every task.

        Raises:
            HearsightError: Ray is not installed, the cluster cannot be reached or has no node for such tasks, or a
                node does not see the folders, runs other code, or does not feel this machine's locks.
        """
        writer_lock = WriterLock.acquire(WriterLock.path_for(lock), lock.name.removesuffix(".lock"), LOCK_PATIENCE)
        with ExitStack() as held:
            held.enter_context(writer_lock.hold_driver_byte())
            # Ray tells news of the nodes on standard output, where a run's result belongs.
            held.enter_context(redirect_stdout(sys.stderr))
            self._ray = ray = connect(self.address, self.workers)
            held.callback(ray.shutdown)
            home = pin_to_node(check_nodes(ray, self.cpus, writer_lock, folders))
            keeping = ray.remote(CacheServer).options(num_cpus=0, max_restarts=3, max_task_retries=3, scheduling_strategy=home)
            self._cache_server = server = keeping.remote()
            use_backend(lambda path: served_backend(server, path))
            held.callback(use_backend, sqlite_backend)
            self._writer_lock, self._pieces = writer_lock, 0
            try:
                yield
            finally:
                self._writer_lock = self._cache_server = None

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """See :class:`Engine`. Raises what ``work`` raised; HearsightError when an item kills its workers or nodes."""
        if self._writer_lock is None:
            raise RuntimeError("the engine is not open")
        ray, first = self._ray, self._pieces
        self._pieces += len(items)
        # Ray's own retries would not tell an item that kills its workers from a node that was taken away.
        task = ray.remote(run_item).options(num_cpus=self.cpus, max_retries=0)
        waiting = list(range(len(items)))[::-1]
        running: dict[Any, int] = {}
        room, deaths = _TaskLimit(self), _Deaths(ray.exceptions)
        try:
            while waiting or running:
                free = room.tasks() - len(running)
                for index in [waiting.pop() for _ in range(min(free, len(waiting)))]:
                    running[task.remote(work, items[index], self._writer_lock, first + index, self._cache_server)] = index
                for reference in ray.wait(list(running), timeout=COUNT_INTERVAL)[0]:
                    index = running.pop(reference)
                    try:
                        good, result = pickle.loads(ray.get(reference))
                    except ray.exceptions.RayError as error:
                        deaths.count(index, items[index], error)
                        waiting.append(index)
                        continue
                    if not good:
                        raise result
                    yield index, result
        finally:
            for reference in running:
                ray.cancel(reference, force=True)


class _Deaths:
    """How often each item lost its worker, and how often its node."""

    def __init__(self, exceptions: Any) -> None:
        self.defect = exceptions.RayTaskError
        self.worker = (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError)
        self.node = (exceptions.NodeDiedError, exceptions.LocalRayletDiedError, exceptions.ObjectLostError)
        self.counts: Counter[tuple[int, bool]] = Counter()

    def count(self, index: int, item: Any, error: Exception) -> None:
        """Count one more; raises HearsightError when that was too often or no death at all, and a defect as it is."""
        if isinstance(error, self.defect):
            raise error
        if not isinstance(error, self.worker + self.node):
            raise HearsightError(
                f"the cluster cannot run it ({first_line(error)})", where="engine: ray", hint="fix the cluster and run again"
            ) from error
        of_node = isinstance(error, self.node)
        self.counts[index, of_node] += 1
        if self.counts[index, of_node] >= (NODE_ATTEMPTS if of_node else ATTEMPTS):
            raise worker_died(index, item, self.counts[index, of_node], first_line(error)) from None


class _TaskLimit:
    """How many tasks may be on their way: twice what runs at once, so that no node waits for the driver."""

    def __init__(self, engine: RayEngine) -> None:
        self.engine, self.counted, self.cores, self.last_core = engine, 0.0, 0.0, time.monotonic()

    def tasks(self) -> int:
        """Tasks to have on their way; raises HearsightError when no node has been left for two minutes."""
        now = time.monotonic()
        if not self.cores or now - self.counted > COUNT_INTERVAL:
            self.counted, self.cores = now, self.engine._ray.cluster_resources().get("CPU", 0.0)
        if self.cores >= self.engine.cpus:
            self.last_core = now
        elif now - self.last_core > NO_NODE_LIMIT:
            raise HearsightError(
                f"the cluster has had no node for {NO_NODE_LIMIT:g} s", where="engine: ray", hint="start nodes and run again"
            )
        return self.engine.workers or max(2, int(2 * self.cores / self.engine.cpus))
