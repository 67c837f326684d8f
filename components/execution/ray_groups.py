"""Groups of ranks on a Ray cluster: one item of work that several machines do together, e.g. a training.

A group is a placement group with a bundle on each of its nodes, and an actor for each rank. All ranks call the same function; the
result of rank 0 counts. When a rank or its node dies, the others are ended, the group is placed again, and the function resumes
from its last checkpoint.
"""

from __future__ import annotations

import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Any, Protocol

from components.core.errors import HearsightError
from components.execution.ranks import Rank
from components.execution.ray_cluster import Capacity, first_line, require_equal
from components.execution.ray_node import RankProcess
from components.execution.resources import Resources
from components.execution.writer_lock import WriterLock

DEATHS = 5
"""Deaths of ranks or nodes in succession, without a checkpoint in between, after which the run fails."""
POLL = 1.0
"""Seconds between two looks at whether the run has been ended."""
FAREWELL = 60.0
"""Seconds that the other ranks have to end after rank 0."""


class OpenCluster(Protocol):
    """What a group needs of :class:`components.execution.ray_engine.RayEngine` while it is open."""

    ray: Any
    cpus: float
    wait: float
    workers: int
    writer_lock: WriterLock | None
    cache_server: Any


class _Ended(Exception):
    """The run ends: another group failed, or the caller needs no more results."""


class _GroupDied(Exception):
    """A rank died, or lost another one."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(first_line(cause))
        self.cause = cause


def run_groups(
    engine: OpenCluster, work: Callable[[Any], Any], items: Sequence[Any], resources: Resources, first: int
) -> Iterator[tuple[int, Any]]:
    """Yield ``(index, work(items[index]))`` in order of completion; a group of ranks runs each item.

    Args:
        first: the first number of the writer lock's items that this call may use; each item uses ``resources.world``.

    Raises:
        HearsightError: there are too few nodes, a node is unfit, or a group died too often without progress.
    """
    capacity = Capacity(engine.ray, resources, engine.cpus, engine.wait)
    while not (slots := capacity.slots()):
        time.sleep(POLL)
    if engine.workers:
        slots = max(1, min(slots, engine.workers // resources.world))
    ended = threading.Event()
    groups = [
        _Group(engine, resources, number, first + number * resources.world, item, ended) for number, item in enumerate(items)
    ]
    with ThreadPoolExecutor(min(slots, len(items)), thread_name_prefix="ranks") as threads:
        futures = {threads.submit(group.run, work): index for index, group in enumerate(groups)}
        try:
            while futures:
                for done in wait(futures, return_when=FIRST_COMPLETED).done:
                    yield futures.pop(done), done.result()
        finally:
            ended.set()
            for future in futures:
                future.cancel()


class _Group:
    """The group of one item, placed as often as needed."""

    def __init__(
        self, engine: OpenCluster, resources: Resources, number: int, first: int, item: Any, ended: threading.Event
    ) -> None:
        self.engine, self.ray, self.resources = engine, engine.ray, resources
        self.number, self.first, self.item, self.ended = number, first, item, ended

    def run(self, work: Callable[[Any], Any]) -> Any:
        """Return the result of rank 0."""
        deaths, before = 0, self._checkpoints()
        while True:
            try:
                return self._attempt(work)
            except _GroupDied as death:
                written = self._checkpoints()
                deaths, before = (1 if written != before else deaths + 1), written
                if deaths >= DEATHS:
                    raise self._given_up(death, deaths) from death.cause
                print(f"{self._name()}: a rank has died ({death}); the group is placed again", file=sys.stderr)

    def _given_up(self, death: _GroupDied, deaths: int) -> Exception:
        if not isinstance(death.cause, self.ray.exceptions.RayError):
            return death.cause  # what a rank raised, each time
        return HearsightError(
            f"a rank or its node died {deaths} times without a new checkpoint ({death})",
            where=self._name(),
            hint="look for a lack of memory on the nodes, lower hardware.checkpoint_steps, and run again: it resumes",
        )

    def _name(self) -> str:
        return f"{getattr(self.item, 'step', 'work')}, {getattr(self.item, 'name', self.number)}"

    def _checkpoints(self) -> int:
        return int(self.ray.get(self.engine.cache_server.checkpoints.remote(self.first)))

    def _attempt(self, work: Callable[[Any], Any]) -> Any:
        from ray.util.placement_group import placement_group, remove_placement_group  # here: optional and slow to import

        capacity = Capacity(self.ray, self.resources, self.engine.cpus, self.engine.wait)
        group = placement_group([capacity.need] * self.resources.nodes, strategy="STRICT_SPREAD")
        ranks: list[Any] = []
        try:
            while not self._wait([group.ready()]):
                capacity.slots()  # raises when nodes are missing for too long
            ranks += self._start(group, capacity.need)
            reports = self._all([rank.report.remote(self.engine.writer_lock) for rank in ranks])
            require_equal({str(number): report.node for number, report in enumerate(reports)})
            return self._first(self._call(ranks, reports, work))
        finally:
            for rank in ranks:
                self.ray.kill(rank)
            remove_placement_group(group)

    def _start(self, group: Any, need: dict[str, float]) -> list[Any]:
        """Start an actor for each rank, in the order of the ranks."""
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy  # here: see above

        actor, each = self.ray.remote(RankProcess), self.resources.processes
        share = {"num_cpus": need["CPU"] / each, "num_gpus": self.resources.gpus / each}
        return [
            actor.options(
                **share,
                max_restarts=0,
                scheduling_strategy=PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=node),
            ).remote()
            for node in range(self.resources.nodes)
            for _ in range(each)
        ]

    def _call(self, ranks: Sequence[Any], reports: Sequence[Any], work: Callable[[Any], Any]) -> list[Any]:
        """Start the work on all ranks; each sees all GPUs that its node's ranks got, and uses that of its local number."""
        addresses = {entry["NodeID"]: entry["NodeManagerAddress"] for entry in self.ray.nodes()}
        each, world, calls = self.resources.processes, self.resources.world, []
        for number, rank in enumerate(ranks):
            node, local = divmod(number, each)
            place = Rank(number, node, local, each, world, addresses[reports[0].node_id], reports[0].port)
            gpus = ",".join(report.gpus for report in reports[node * each : (node + 1) * each] if report.gpus)
            under = (self.engine.writer_lock, self.first, self.engine.cache_server)
            calls.append(rank.run.remote(place, gpus, addresses[reports[number].node_id], work, self.item, *under))
        return calls

    def _first(self, calls: list[Any]) -> Any:
        """Return the result of rank 0 when all ranks have ended, or soon after it has."""
        waiting, results = list(calls), {}
        deadline = float("inf")
        while waiting and time.monotonic() < deadline:
            for call in self._wait(waiting):
                waiting.remove(call)
                results[call] = self._outcome(call)
            if calls[0] in results:
                deadline = min(deadline, time.monotonic() + FAREWELL)
        return results[calls[0]]

    def _outcome(self, call: Any) -> Any:
        succeeded, result = pickle.loads(self._get(call))  # noqa: S301  from our own rank; Ray pickles too
        # The ranks that are left when one dies fail with errors of the connection, which torch raises as RuntimeError.
        if not succeeded and isinstance(result, (RuntimeError, OSError)):
            raise _GroupDied(result)
        if not succeeded:
            raise result
        return result

    def _all(self, calls: list[Any]) -> list[Any]:
        waiting, results = list(calls), {}
        while waiting:
            for call in self._wait(waiting):
                waiting.remove(call)
                results[call] = self._get(call)
        return [results[call] for call in calls]

    def _get(self, call: Any) -> Any:
        try:
            return self.ray.get(call)
        except self.ray.exceptions.RayTaskError:
            raise
        except self.ray.exceptions.RayError as error:
            raise _GroupDied(error) from error

    def _wait(self, calls: list[Any]) -> list[Any]:
        if self.ended.is_set():
            raise _Ended
        done: list[Any] = self.ray.wait(calls, timeout=POLL)[0]
        return done
