"""Functions on untrusted input with limits of CPU time and memory that the kernel enforces.

Exceptions and signal handlers cannot stop compiled decoders and parsers, and a defect can end the process. The function therefore
runs in a forked child with resource limits (setrlimit(2)).
"""

from __future__ import annotations

import faulthandler
import gc
import os
import pickle
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from components.execution.process import return_freed_memory

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class ItemFailure:
    """The outcome of an item that has no result."""

    reason: str
    """``cpu`` (over its CPU time), ``memory``, or ``crash`` (the process ended otherwise)."""


def run_limited(
    function: Callable[[Item], Result], items: Sequence[Item], *, seconds: float, memory: int
) -> list[Result | ItemFailure]:
    """Return the result of ``function`` for each item, or an :class:`ItemFailure`.

    One child processes many items; if an item kills it, another child continues with the next item.

    Args:
        function: returns a value that can be pickled; its exceptions are raised here. It runs in a forked process, so its side
            effects in memory are lost.
        seconds: CPU time for one item, rounded up to whole seconds.
        memory: bytes of address space that one item may add.
    """
    results: list[Result | ItemFailure] = []
    while len(results) < len(items):
        received, status = _run_child(function, items[len(results) :], seconds, memory)
        for ok, value in received:
            if not ok:
                raise value
            results.append(value)
        if len(results) < len(items):
            results.append(ItemFailure("cpu" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU else "crash"))
    return results


def _run_child(function: Callable[[Any], Any], items: Sequence[Any], seconds: float, memory: int) -> tuple[list[Any], int]:
    """Return the (succeeded, value) pairs that a child sent before it ended, and its wait status."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _work(function, items, seconds, memory, writer)
    os.close(writer)
    received: list[Any] = []
    try:
        with os.fdopen(reader, "rb") as stream:
            while not received or received[-1][0]:
                received.append(pickle.load(stream))  # noqa: S301  from our own child, through a pipe
    except (EOFError, pickle.UnpicklingError):  # the child has ended, perhaps while it sent a result
        pass
    except BaseException:  # an interrupted parent does not wait for the child's time limit
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    return received, status


def _work(function: Callable[[Any], Any], items: Sequence[Any], seconds: float, memory: int, writer: int) -> None:
    """Run the child; never returns."""
    try:
        _prepare_child()
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with os.fdopen(writer, "wb") as stream:
            for item in items:
                _set_limits(seconds, memory)
                try:
                    outcome: tuple[bool, Any] = (True, function(item))
                except MemoryError:
                    outcome = (True, ItemFailure("memory"))
                except Exception as error:
                    outcome = (False, error)
                pickle.dump(outcome, stream, pickle.HIGHEST_PROTOCOL)
                stream.flush()
    finally:
        os._exit(0)  # without the parent's exit handlers


def _prepare_child() -> None:
    """Prepare a process that was just forked for :func:`_set_limits`, so that its parent's memory does not count for items."""
    faulthandler.disable()  # the parent reports the outcome; an inherited handler would print a traceback
    gc.freeze()  # a collection would copy the parent's objects, at an item's expense
    return_freed_memory()


def _set_limits(seconds: float, memory: int) -> None:
    """Limit the CPU time and memory that this process may use from now on.

    Args:
        seconds: CPU time, rounded up to whole seconds; beyond it the kernel sends SIGXCPU.
        memory: bytes of additional address space; beyond them allocations raise MemoryError. macOS enforces no such limit.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime + seconds) + 1
    limits = [(resource.RLIMIT_CPU, cpu)]
    if sys.platform == "linux":
        space = int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize() + memory
        limits.append((resource.RLIMIT_AS, space))
    for kind, soft in limits:
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
