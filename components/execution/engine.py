"""The engine maps a function over work items in other processes; what a stage computes does not depend on it.

``LocalEngine`` is the default: forked workers that die with their parent, and whose own death costs one retry of
the item they held. Another engine (``engine_ray``: a Ray cluster) is any class with the same methods; items and
results are picklable and the function is a module-level one, so nothing else has to change.
"""

from __future__ import annotations

import multiprocessing
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol

from components.core.errors import HearsightError
from components.execution.process import die_with_parent

THREAD_LIMITS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
ATTEMPTS = 3
"""How often an item is tried before its worker's death counts as the item's fault."""


class Engine(Protocol):
    """Where work runs."""

    name: str

    def open(self, lock: Path, folders: Sequence[Path]) -> AbstractContextManager[None]:
        """Hold what :meth:`run` needs while a stage runs.

        Args:
            lock: the stage's lock, held by this process.
            folders: what the workers read and write; they must see them.
        """

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield ``(index, work(items[index]))`` as results come, in any order."""


class LocalEngine:
    """Worker processes on this machine.

    Args:
        workers: how many; 0 takes one for each core this process may use.
    """

    name = "local"

    def __init__(self, workers: int) -> None:
        self.workers = workers or len(os.sched_getaffinity(0))

    def open(self, lock: Path, folders: Sequence[Path]) -> AbstractContextManager[None]:
        """Nothing to hold: forked workers inherit the lock and see what this process sees."""
        return nullcontext()

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """See :class:`Engine`. Raises what ``work`` raised; HearsightError when an item kills its workers."""
        waiting = list(range(len(items)))[::-1]
        attempts = [0] * len(items)
        crew: dict[Connection, _Worker] = {}
        try:
            while waiting or any(worker.item is not None for worker in crew.values()):
                while waiting and len(crew) < min(self.workers, len(items)):
                    worker = _Worker(work, items)
                    crew[worker.pipe] = worker
                for worker in crew.values():
                    if worker.item is None and waiting:
                        following = waiting.pop()
                        attempts[following] += 1
                        worker.give(following)
                for pipe in wait([w.pipe for w in crew.values() if w.item is not None]):
                    worker = crew[pipe]  # type: ignore[index]
                    index = worker.take()
                    try:
                        good, result = worker.pipe.recv()
                    except (EOFError, ConnectionResetError, OSError):
                        # Killed from outside (out of memory, say): a fresh worker takes the item again.
                        crew.pop(worker.pipe).stop()
                        if attempts[index] >= ATTEMPTS:
                            raise worker_died(index, items[index], ATTEMPTS, f"exit {worker.process.exitcode}") from None
                        waiting.append(index)
                        continue
                    if not good:
                        raise result
                    yield index, result
        finally:
            for worker in crew.values():
                worker.stop()


class _Worker:
    """One forked process and the pipe to it."""

    def __init__(self, work: Callable[[Any], Any], items: Sequence[Any]) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, far_end = context.Pipe()
        self.item: int | None = None
        self.process: BaseProcess = context.Process(target=_serve, args=(far_end, work, items, os.getpid()), daemon=False)
        self.process.start()
        far_end.close()

    def give(self, index: int) -> None:
        self.item = index
        try:
            self.pipe.send(index)
        except (BrokenPipeError, OSError):
            pass  # It died while idle: the next receive says so.

    def take(self) -> int:
        """The item this worker held; it holds none from now on."""
        assert self.item is not None
        index, self.item = self.item, None
        return index

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(pipe: Connection, work: Callable[[Any], Any], items: Sequence[Any], parent: int) -> None:
    die_with_parent(parent)
    while True:
        try:
            index = pipe.recv()
        except EOFError:
            os._exit(0)
        answer = call_item(work, items[index])
        try:
            pipe.send(answer)
        except Exception as error:
            pipe.send((False, RuntimeError(f"{answer[1]!r} cannot be sent back ({error})")))


def call_item(work: Callable[[Any], Any], item: Any) -> tuple[bool, Any]:
    """In a worker: whether ``work(item)`` came to an end, and its result or what it raised."""
    try:
        return True, work(item)
    except BaseException as error:
        if not isinstance(error, HearsightError):
            error.add_note("in a worker:\n" + traceback.format_exc())
        return False, error


def worker_died(index: int, item: Any, times: int, how: str) -> HearsightError:
    """What to tell a person about an item whose workers keep dying."""
    step, name = getattr(item, "step", ""), getattr(item, "shard", "") or getattr(item, "name", "")
    return HearsightError(
        f"its worker died {times} times ({how})",
        where=f"{step}, {name}" if step and name else f"work item {index}",
        hint="look for a lack of memory (dmesg), use fewer workers, and run again",
    )


def limit_threads() -> None:
    """One numeric thread a process: sums come out the same on every machine, and workers do not fight for cores."""
    for name in THREAD_LIMITS:
        os.environ[name] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
