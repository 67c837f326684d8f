"""Run a function on untrusted input with a limit on processor time and memory, enforced by the kernel.

Decoders and parsers are compiled code: an exception or a signal handler cannot stop them, and a defect in one can end the
process. So the function runs in a forked child with resource limits (setrlimit(2)); the parent survives whatever happens
there. The child inherits the input by copy-on-write, so nothing but the results is copied.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import resource
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class OverLimit:
    """Why there is no result for an item."""

    reason: str
    """``cpu`` (out of processor time), ``memory``, or ``crash`` (the process ended in another way)."""


def run_limited(
    function: Callable[[Item], Result], items: Sequence[Item], *, seconds: float, memory: int
) -> list[Result | OverLimit]:
    """Return the result of ``function`` for each item, or an :class:`OverLimit`.

    One child works through many items; when one of them ends it, another child goes on behind that item.

    Args:
        function: returns something that can be pickled; what it raises is raised here. It runs in a forked process: what it
            changes is lost.
        items: the inputs.
        seconds: CPU time for one item, rounded up to whole seconds.
        memory: bytes of address space that one item may add.
    """
    results: list[Result | OverLimit] = []
    while len(results) < len(items):
        received, status = _run_child(function, items[len(results) :], seconds, memory)
        for ok, value in received:
            if not ok:
                raise value
            results.append(value)
        if len(results) < len(items):
            results.append(OverLimit("cpu" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU else "crash"))
    return results


def _run_child(function: Callable[[Any], Any], items: Sequence[Any], seconds: float, memory: int) -> tuple[list[Any], int]:
    """The (succeeded, value) pairs that a child sent before it ended, and its wait status."""
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
                received.append(pickle.load(stream))
    except (EOFError, pickle.UnpicklingError):  # the child has ended, perhaps within a result
        pass
    except BaseException:  # an interrupted parent does not wait for the child's full budget
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(child, 0)
    return received, status


def _work(function: Callable[[Any], Any], items: Sequence[Any], seconds: float, memory: int, writer: int) -> None:
    """The child's whole life; never returns."""
    try:
        faulthandler.disable()  # the parent tells what happened; a test's or a server's handler would print a page of it
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with os.fdopen(writer, "wb") as stream:
            for item in items:
                set_limits(seconds, memory)
                try:
                    outcome: tuple[bool, Any] = (True, function(item))
                except MemoryError:
                    outcome = (True, OverLimit("memory"))
                except Exception as error:
                    outcome = (False, error)
                pickle.dump(outcome, stream, pickle.HIGHEST_PROTOCOL)
                stream.flush()
    finally:
        os._exit(0)  # no exit handler of the parent's may run here


def set_limits(seconds: float, memory: int) -> None:
    """Let this process use so much CPU time and memory from now on; a process out of time is killed (SIGXCPU).

    Args:
        seconds: CPU time, rounded up to whole seconds.
        memory: bytes of address space; without them there is a MemoryError.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime + seconds) + 1
    space = int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize() + memory
    for kind, soft in ((resource.RLIMIT_CPU, cpu), (resource.RLIMIT_AS, space)):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
