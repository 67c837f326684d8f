"""Engines map a function over items in worker processes. The results do not depend on the engine.

Functions are at module level, and items and results can be pickled. :class:`components.execution.ray_engine.RayEngine` uses Ray.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol

from threadpoolctl import threadpool_limits

from components.core.errors import HearsightError
from components.core.machine import usable_cores
from components.core.result_files import Opener, sqlite_backend
from components.execution.process import die_with_parent
from components.execution.resources import CORE, Accelerator, Device, Resources, choose_device, share_gpus, show_gpus

THREAD_LIMITS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
ATTEMPTS = 3
"""Number of workers that may die on one item before the run fails."""


class Engine(Protocol):
    """The interface of engines."""

    name: str
    opener: Opener
    """Opens the result caches of the run."""

    def open(self, project: Path, lock: Path, folders: Sequence[Path]) -> AbstractContextManager[None]:
        """Hold the resources of :meth:`run` while a stage runs.

        Args:
            project: the project's folder.
            lock: the stage's lock file, locked by this process.
            folders: folders that the workers read and write.
        """

    def device(self, accelerator: Accelerator) -> Device:
        """Return what items with this setting compute on; raise HearsightError if a GPU is asked for and there is none."""

    def run(self, work: Callable[[Any], Any], items: Sequence[Any], resources: Resources = CORE) -> Iterator[tuple[int, Any]]:
        """Yield ``(index, work(items[index]))`` in order of completion.

        Args:
            resources: what each item needs. It sees the GPUs that it asked for and no others.
        """


class LocalEngine:
    """Worker processes on this machine.

    Args:
        workers: maximum of processes; 0 takes one for each core this process may use, and for items that need GPUs as many as
            the GPUs suffice for.
    """

    name = "local"
    opener: Opener = staticmethod(sqlite_backend)

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def open(self, project: Path, lock: Path, folders: Sequence[Path]) -> AbstractContextManager[None]:
        """Return an empty context: forked workers inherit the lock and see the same files."""
        return nullcontext()

    def device(self, accelerator: Accelerator) -> Device:
        """See :class:`Engine`."""
        return choose_device(accelerator)

    def run(self, work: Callable[[Any], Any], items: Sequence[Any], resources: Resources = CORE) -> Iterator[tuple[int, Any]]:
        """See :class:`Engine`. Raises what ``work`` raises; HearsightError when an item kills its workers, or needs more GPUs or
        nodes than there are."""
        free = (share_gpus(resources) or [""] * (self.workers or usable_cores()))[: self.workers or None]
        pending = list(range(len(items)))[::-1]
        attempts = [0] * len(items)
        workers: dict[Connection, _Worker] = {}
        try:
            while pending or any(worker.item is not None for worker in workers.values()):
                while pending and free and len(workers) < len(items):
                    worker = _Worker(work, items, free.pop(0))
                    workers[worker.pipe] = worker
                for worker in workers.values():
                    if worker.item is None and pending:
                        index = pending.pop()
                        attempts[index] += 1
                        worker.send(index)
                for pipe in wait([worker.pipe for worker in workers.values() if worker.item is not None]):
                    worker = workers[pipe]  # type: ignore[index]
                    index = worker.release_item()
                    try:
                        succeeded, result = worker.pipe.recv()
                    except (EOFError, ConnectionResetError, OSError):
                        # Killed from outside, e.g. out of memory: a new worker retries the item.
                        workers.pop(worker.pipe).stop()
                        free.append(worker.gpus)
                        if attempts[index] >= ATTEMPTS:
                            raise worker_died(index, items[index], ATTEMPTS, f"exit {worker.process.exitcode}") from None
                        pending.append(index)
                        continue
                    if not succeeded:
                        raise result
                    yield index, result
        finally:
            for worker in workers.values():
                worker.stop()


class _Worker:
    """One forked process and the pipe to it."""

    def __init__(self, work: Callable[[Any], Any], items: Sequence[Any], gpus: str) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, child_end = context.Pipe()
        self.item: int | None = None
        self.gpus = gpus
        arguments = (child_end, work, items, os.getpid(), gpus)
        self.process: BaseProcess = context.Process(target=_serve, args=arguments, daemon=False)
        self.process.start()
        child_end.close()

    def send(self, index: int) -> None:
        """Start work on an item."""
        self.item = index
        try:
            self.pipe.send(index)
        except (BrokenPipeError, OSError):
            pass  # it died while idle; the next receive fails

    def release_item(self) -> int:
        """Return the worker's item and mark the worker as idle."""
        assert self.item is not None
        index, self.item = self.item, None
        return index

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(pipe: Connection, work: Callable[[Any], Any], items: Sequence[Any], parent: int, gpus: str) -> None:
    die_with_parent(parent)
    show_gpus(gpus)
    while True:
        try:
            index = pipe.recv()
        except EOFError:
            os._exit(0)
        pipe.send_bytes(call_pickled(work, items[index]))


def call_item(work: Callable[[Any], Any], item: Any) -> tuple[bool, Any]:
    """Run ``work(item)`` in a worker; return (True, result), or (False, exception) when it raises."""
    try:
        return True, work(item)
    except BaseException as error:
        if not isinstance(error, HearsightError):
            error.add_note("in a worker:\n" + traceback.format_exc())
        return False, error


def call_pickled(work: Callable[[Any], Any], item: Any) -> bytes:
    """Return the pickled outcome of :func:`call_item`; of a result that cannot be pickled, the error."""
    outcome = call_item(work, item)
    try:
        return pickle.dumps(outcome)
    except Exception as error:
        return pickle.dumps((False, RuntimeError(f"{outcome[1]!r} cannot be sent back ({error})")))


def worker_died(index: int, item: Any, times: int, how: str) -> HearsightError:
    """Return the error for an item whose workers died ``times`` times."""
    step, name = getattr(item, "step", ""), getattr(item, "shard", "") or getattr(item, "name", "")
    return HearsightError(
        f"its worker died {times} times ({how})",
        where=f"{step}, {name}" if step and name else f"work item {index}",
        hint="look for a lack of memory (dmesg), use fewer workers, and run again",
    )


def limit_threads() -> None:
    """Set one numeric thread for each process: sums are then equal on every machine, and workers do not compete for cores."""
    for name in THREAD_LIMITS:
        os.environ[name] = "1"
    threadpool_limits(1)  # libraries that are loaded read the environment no more
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
