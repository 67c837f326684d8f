"""``engine: ray``: items as tasks on a Ray cluster, with the same output bytes as the local engine.

Each shard or job is one task; a job for several nodes is a group of ranks (:mod:`components.execution.ray_groups`). All nodes
share the project's folder through a network file system, which is verified before a run
(:mod:`components.execution.ray_cluster`). :class:`components.execution.writer_lock.WriterLock` separates two writers.

With storage in S3 nodes share the bucket alone (:mod:`components.execution.shipping`). Equal keys have equal bytes, so
that writers need no lock.
"""

from __future__ import annotations

import pickle
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from components.core.addresses import main_project
from components.core.errors import HearsightError
from components.core.object_store import ObjectStore
from components.core.result_files import Opener, sqlite_backend
from components.core.stored_files import store_of
from components.execution.engine import ATTEMPTS, LocalEngine, worker_died
from components.execution.process import LOCK_PATIENCE
from components.execution.ray_cluster import COUNT_INTERVAL, Capacity, check_nodes, connect, first_line, pin_to_node
from components.execution.ray_groups import run_groups
from components.execution.ray_node import CacheServer, ServedFiles, run_item
from components.execution.resources import CORE, Accelerator, Device, Resources
from components.execution.shipping import pack, runs_here
from components.execution.writer_lock import WriterLock

NODE_ATTEMPTS = 10
"""Number of nodes that may die on one item before the run fails."""
WAIT = 120.0
"""Seconds a run waits for nodes that are missing, unless the settings say otherwise."""


class RayEngine:
    """Tasks on a Ray cluster.

    Args:
        address: ``auto`` (this machine's cluster, or RAY_ADDRESS), ``host:port``, ``ray://host:port``, or ``local`` (a cluster of
            this machine for the duration of the run).
        workers: maximum of concurrent tasks; 0 takes the cluster's capacity.
        cpus: cores of one task at least.
        wait: seconds a run waits for nodes that are missing, e.g. until an autoscaler has started them.
    """

    name = "ray"

    def __init__(self, address: str = "auto", workers: int = 0, cpus: float = 1.0, wait: float = WAIT) -> None:
        self.address, self.workers, self.cpus = address, workers, cpus
        self.wait = 0.0 if address == "local" else wait
        self.ray: Any = None
        self.writer_lock: WriterLock | None = None
        self.cache_server: Any = None
        self.opener: Opener = sqlite_backend
        self._store: ObjectStore | None = None
        self._root = Path()
        self._items = 0

    @contextmanager
    def open(self, project: Path, lock: Path, folders: Sequence[Path]) -> Iterator[None]:
        """See :class:`Engine`. Connects, checks every node, and disconnects at the end, which ends all tasks.

        Raises:
            HearsightError: Ray is not installed, the cluster cannot be reached or has no node for such tasks, or a node does not
                see the folders, runs other code, or is not reached by this machine's locks.
        """
        store = store_of(project)
        writer_lock = WriterLock.acquire(WriterLock.path_for(lock), lock.name.removesuffix(".lock"), LOCK_PATIENCE)
        with ExitStack() as resources:
            resources.enter_context(writer_lock.hold_driver_byte())
            # Ray prints events on standard output, which is for the run's result.
            resources.enter_context(redirect_stdout(sys.stderr))
            self.ray = ray = connect(self.address, self.workers)
            resources.callback(ray.shutdown)
            self._root, self._store = main_project(project), store
            node = pin_to_node(check_nodes(ray, self.cpus, writer_lock, folders, store))
            actor = ray.remote(CacheServer).options(num_cpus=0, max_restarts=3, max_task_retries=3, scheduling_strategy=node)
            self.cache_server = actor.remote()
            self.opener = ServedFiles(self.cache_server)
            self.writer_lock, self._items = writer_lock, 0
            try:
                yield
            finally:
                self.writer_lock = self.cache_server = self._store = None
                self.opener = sqlite_backend

    def device(self, accelerator: Accelerator) -> Device:
        """See :class:`Engine`; ``auto`` is a GPU if a node has one. :meth:`run` waits for nodes with GPUs."""
        if accelerator == "auto":
            return "gpu" if any(entry["Resources"].get("GPU") for entry in self.ray.nodes() if entry["Alive"]) else "cpu"
        return accelerator

    def run(self, work: Callable[[Any], Any], items: Sequence[Any], resources: Resources = CORE) -> Iterator[tuple[int, Any]]:
        """See :class:`Engine`. Raises what ``work`` raises; HearsightError when an item kills its workers or nodes, or needs
        nodes that do not come."""
        if self.writer_lock is None:
            raise RuntimeError("the engine is not open")
        first, ray, shared = self._items, self.ray, self.writer_lock if self._store is None else self._store
        self._items += len(items) * resources.world
        if not items:
            return
        if resources.nodes > 1:
            if self._store is not None:
                raise HearsightError(
                    "a training on several nodes needs a shared folder for its checkpoints, and storage in S3 has none",
                    where="hardware.nodes",
                    hint="set nodes: 1, or storage: {kind: local} and mount the folder on all nodes",
                )
            yield from run_groups(self, work, items, resources, first)
            return
        if self._store is not None:
            if runs_here(items):
                yield from LocalEngine(self.workers).run(work, items, resources)
                return
            items = pack(items, self._root, self._store)
        capacity = Capacity(ray, resources, self.cpus, self.wait)
        # Ray's retries do not distinguish an item that kills its workers from a removed node.
        task = ray.remote(run_item).options(num_cpus=capacity.need["CPU"], num_gpus=resources.gpus, max_retries=0)
        pending = list(range(len(items)))[::-1]
        running: dict[Any, int] = {}
        deaths = _Deaths(ray.exceptions)
        try:
            while pending or running:
                # Twice the tasks that run at once, so that no node waits for the driver.
                most = max(2, 2 * capacity.slots())  # raises when nodes are missing for too long
                free = (self.workers or most) - len(running)
                for index in [pending.pop() for _ in range(min(free, len(pending)))]:
                    place = (shared, first + index, bool(resources.gpus))
                    running[task.remote(work, items[index], *place)] = index
                for reference in ray.wait(list(running), timeout=COUNT_INTERVAL)[0]:
                    index = running.pop(reference)
                    try:
                        succeeded, result = pickle.loads(ray.get(reference))  # noqa: S301  from our own task; Ray pickles too
                    except ray.exceptions.RayError as error:
                        deaths.count(index, items[index], error)
                        pending.append(index)
                        continue
                    if not succeeded:
                        raise result
                    yield index, result
        finally:
            for reference in running:
                ray.cancel(reference, force=True)


class _Deaths:
    """Counts of the workers and nodes that died on each item."""

    def __init__(self, exceptions: Any) -> None:
        self.defect = exceptions.RayTaskError
        self.worker = (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError)
        self.node = (exceptions.NodeDiedError, exceptions.LocalRayletDiedError, exceptions.ObjectLostError)
        self.counts: Counter[tuple[int, bool]] = Counter()

    def count(self, index: int, item: Any, error: Exception) -> None:
        """Count the death of a worker or node; raise HearsightError after too many, and any other error as it is."""
        if isinstance(error, self.defect):
            raise error
        if not isinstance(error, self.worker + self.node):
            raise HearsightError(
                f"the cluster cannot run it ({first_line(error)})", where="engine: ray", hint="fix the cluster and run again"
            ) from error
        node_died = isinstance(error, self.node)
        self.counts[index, node_died] += 1
        if self.counts[index, node_died] >= (NODE_ATTEMPTS if node_died else ATTEMPTS):
            raise worker_died(index, item, self.counts[index, node_died], first_line(error)) from None
