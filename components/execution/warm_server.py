"""Runs commands in forks of one process that has imported their slow libraries: the server.

The parent only accepts connections, forks, and kills a fork whose client has closed its connection. It never reads
a request, so no client can hold it up. A fork dies with the parent (the kernel's signal), and with its client (the parent's).
The parent ends after a minute without work, unless the ``dvc`` it was started for is still there, and at once when its
folder is gone. The client's side is :mod:`components.execution.warm_client`.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from components.execution import background
from components.execution.process import die_with_parent, start_time

IDLE = 60.0
"""Seconds without a client after which the server ends."""
FORK_SAFE = frozenset({"jemalloc_bg_thd"})
"""Threads of libraries that see to a fork themselves, by the kernel's names: Arrow's allocator."""
OWN = ("components", "flows")
"""The project's packages, which every fork imports anew: an edited file is never served from memory."""


def serve(
    name: str, keeper: tuple[int, str], preload: Callable[[], None], command: Callable[[], int], own: Collection[str] = OWN
) -> None:
    """Serve in the current folder, in the background, until idle; ends at once when another server does.

    Args:
        name: the socket's name, in the current folder.
        keeper: pid and start time of a process for whose life the server stays; pid 0 for none.
        preload: imports the slow libraries; the project's modules may be among what it imports.
        command: runs in the fork, with ``sys.argv`` as the client's, and returns the exit code.
        own: top packages that every fork imports anew.
    """
    background.detach()
    with Path(f"{name}.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os._exit(0)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            Path(name).unlink(missing_ok=True)
            listener.bind(name)
            try:
                listener.listen(64)  # before the imports: clients wait in the queue, and start no other server
                preload()
                gc.collect()
                gc.freeze()  # what is shared with the forks stays shared
                _accept(name, listener, keeper, command, own)
            finally:
                Path(name).unlink(missing_ok=True)
    os._exit(0)


def _accept(
    name: str, listener: socket.socket, keeper: tuple[int, str], command: Callable[[], int], own: Collection[str]
) -> None:
    poller = select.poll()
    poller.register(listener, select.POLLIN)
    forks: dict[int, tuple[socket.socket, int]] = {}
    until = time.monotonic() + IDLE
    while Path(name).exists():
        if forks or (keeper[0] and start_time(keeper[0]) == keeper[1]):
            until = time.monotonic() + IDLE
        elif time.monotonic() > until:
            return
        for number, event in poller.poll(1000):
            if number == listener.fileno():
                connection, _ = listener.accept()
                require_forkable()
                pid = os.fork()
                if pid == 0:
                    listener.close()
                    _fork(connection, command, own)
                forks[connection.fileno()] = (connection, pid)
                poller.register(connection, 0)  # only its end is of interest
            elif event & (select.POLLHUP | select.POLLERR):
                # The client has its answer, or is gone: in both cases nobody waits for the fork any more.
                connection, pid = forks.pop(number)
                poller.unregister(connection)
                connection.close()
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def require_forkable() -> None:
    """Raise RuntimeError when some library has started a thread: a fork would lack it, and might wait for its locks for ever."""
    names = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir() if task.name != str(os.getpid())]
    if found := sorted(set(names) - FORK_SAFE):
        raise RuntimeError(f"cannot be forked: it has the threads {', '.join(found)}")


def _fork(connection: socket.socket, command: Callable[[], int], own: Collection[str]) -> None:
    """The fork's whole life: become the client's process as far as streams, environment and folder go, run, answer."""
    server = os.getppid()
    code = 1
    try:
        die_with_parent(server)
        _, streams, _, _ = socket.recv_fds(connection, 1, 4)
        with connection, connection.makefile("rb") as lines:
            request = json.loads(lines.readline())
        answer = streams.pop()
        os.set_inheritable(answer, False)
        _become(request, streams, own)
        try:
            code = command()
        except BaseException:  # as at any other end of a program
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(answer, str(code).encode())
    except BaseException:  # no answer: the client does the work itself
        traceback.print_exc()
    finally:
        os._exit(code)


def _become(request: dict[str, Any], streams: list[int], own: Collection[str]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    encoding = request["encoding"]
    sys.stdout = open(1, "w", encoding=encoding, closefd=False)  # noqa: SIM115 - a descriptor, for the process's life
    sys.stderr = open(2, "w", encoding=encoding, errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["folder"])
    sys.argv[:], sys.path[:] = request["arguments"], request["path"]
    for module in [module for module in sys.modules if module.partition(".")[0] in own]:
        del sys.modules[module]
    importlib.invalidate_caches()
