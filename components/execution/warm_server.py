"""Server that works in forks of a process which has imported slow libraries.

The parent accepts connections, forks, and kills a fork whose client has closed its connection. It never reads a request, so no
client can block it. It ends after a minute without work, unless the ``dvc`` that started it still runs, and at once when its
folder is deleted. The client is :mod:`components.execution.warm_client`.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from components.execution import background
from components.execution.process import die_with_parent, start_time

IDLE = 60.0
"""Seconds without a client after which the server ends."""
FORK_SAFE = frozenset({"jemalloc_bg_thd"})
"""Names of threads of libraries that handle forks themselves: Arrow's allocator."""
PROJECT_PACKAGES = ("components", "flows")
"""Packages that every fork imports again, so that edits take effect."""


def serve(name: str, owner: tuple[int, str], preload: Callable[[], None]) -> None:
    """Serve in the current folder, in the background, until idle; end at once when another server runs.

    Args:
        name: the socket's name in the current folder.
        owner: pid and start time of a process during whose life the server stays; pid 0 for none.
        preload: imports the slow libraries, and possibly modules of the project.
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
            Path(name).chmod(0o600)  # whoever connects runs commands; the folder is closed to others, too
            try:
                listener.listen(64)  # before the imports, so that clients wait instead of starting another server
                preload()
                gc.collect()
                gc.freeze()  # keeps the memory shared with the forks
                _accept(name, listener, owner)
            finally:
                Path(name).unlink(missing_ok=True)
    os._exit(0)


def _accept(name: str, listener: socket.socket, owner: tuple[int, str]) -> None:
    poller = select.poll()
    poller.register(listener, select.POLLIN)
    forks: dict[int, tuple[socket.socket, int]] = {}
    until = time.monotonic() + IDLE
    while Path(name).exists():
        if forks or (owner[0] and start_time(owner[0]) == owner[1]):
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
                    _run_fork(connection)
                forks[connection.fileno()] = (connection, pid)
                poller.register(connection, 0)  # reports only its end
            elif event & (select.POLLHUP | select.POLLERR):
                # The client has its answer or has ended: the fork is no longer needed.
                connection, pid = forks.pop(number)
                poller.unregister(connection)
                connection.close()
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def require_forkable() -> None:
    """Raise RuntimeError when a library has started a thread: a fork lacks it and could wait for its locks for ever."""
    names = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir() if task.name != str(os.getpid())]
    if threads := sorted(set(names) - FORK_SAFE):
        raise RuntimeError(f"cannot be forked: it has the threads {', '.join(threads)}")


def _run_fork(connection: socket.socket) -> None:
    """Run the fork: take over the client's environment and streams, do its work, send what it returns; never returns."""
    log = os.fdopen(os.dup(2), "w")
    try:
        die_with_parent(os.getppid())
        _, (writer, *streams), _, _ = socket.recv_fds(connection, 1, 3)
        os.set_inheritable(writer, False)
        for number, theirs in enumerate(streams, start=1):
            os.dup2(theirs, number)
            os.close(theirs)
        sys.stdout, sys.stderr = _reopen(sys.stdout), _reopen(sys.stderr)
        with connection, connection.makefile("rb") as lines:
            request = json.loads(lines.readline())
        module, function = request["work"]
        _take_over(request, {*PROJECT_PACKAGES, module.partition(".")[0]})
        work = getattr(importlib.import_module(module), function)
        with os.fdopen(writer, "wb") as sent:
            sent.write(b"\n")  # JSON ignores it; it tells the client that the work has begun
            sent.flush()
            sent.write(json.dumps(work(request["question"])).encode())
    except BaseException:  # no answer
        traceback.print_exc(file=log)
    finally:
        for stream in (sys.stdout, sys.stderr, log):
            stream.flush()
        os._exit(0)


def _reopen(stream: TextIO) -> TextIO:
    """Return a stream of the same descriptor: the old one knows whether the file that was there before can be sought."""
    return open(stream.fileno(), "w", 1, stream.encoding, stream.errors, closefd=False)


def _take_over(request: dict[str, Any], reloaded: set[str]) -> None:
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.umask(request["umask"])
    os.chdir(request["folder"])
    sys.path[:] = request["path"]
    for module in [module for module in sys.modules if module.partition(".")[0] in reloaded]:
        del sys.modules[module]
    importlib.invalidate_caches()


if __name__ == "__main__":
    name, pid, started, module, function = sys.argv[1:]
    serve(name, (int(pid), started), getattr(importlib.import_module(module), function))
