"""Client that has a fork of a background process, which has imported slow libraries, do some work.

Each project and environment has a server (:mod:`components.execution.warm_server`) for each set of libraries. It listens on a
socket in ``.hearsight/warm`` (mode 0700). When no fork can begin, the caller does the work itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from components.execution import background
from components.execution.process import ancestor, start_time

SERVER = "components.execution.warm_server"
SWITCH = "HEARSIGHT_WARM"
"""Environment variable; ``off`` disables the server."""
START_LIMIT = 30.0
"""Seconds within which a started server must listen; it listens before it imports slow libraries."""
AT_IMPORT = ("ARROW", "GX_", "LANG", "LC_", "LD_", "MALLOC", "MKL_", "NPY_", "OMP_", "OPENBLAS", "PANDAS", "PYTHON", "TZ")
"""Prefixes of environment variables that libraries read on import."""
SINGLE_THREADED = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMEXPR_NUM_THREADS": "1"}
"""Disables threads of numeric libraries in the server, since a process with threads cannot be forked safely."""


class ForkLost(Exception):
    """A fork that had begun ended without an answer: it was killed."""


def run_warm(root: Path, preload: Callable[[], None], work: Callable[[Any], Any], question: Any) -> Any:
    """Have a fork of a server do some work; the fork writes to this process's output streams.

    Args:
        root: the project; its ``.hearsight`` holds the socket.
        preload: what the server does before it forks, a function of a module; an edit of its file starts another server.
        work: what the fork does with the question, a function of a module; the fork imports it anew.
        question: a JSON value.

    Returns:
        What ``work`` returns, a JSON value; None when no fork began and the work must be done here.

    Raises:
        ForkLost: see there.
    """
    if sys.platform != "linux" or os.environ.get(SWITCH) == "off":
        return None
    try:
        with _connection(root / ".hearsight" / "warm", preload) as connection:
            return _request(connection, work, question)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _server_name(preload: Callable[[], None]) -> str:
    """Return the name of a server: a digest of what it and its clients must share.

    These are its imports, interpreter, installed packages, server code, variables, and what a process hands to its forks: cores,
    priority, namespaces, limits and control group.
    """
    installed = [path for path in sys.path if path.endswith(("site-packages", "dist-packages")) and Path(path).is_dir()]
    sources = [Path(__file__), Path(__file__).with_name("warm_server.py"), Path(preload.__code__.co_filename)]
    shared = [
        [preload.__module__, preload.__name__],
        [sys.executable, sys.prefix, sys.version],
        # Installing, upgrading or removing a package changes the time of these folders.
        [[path, Path(path).stat().st_mtime_ns] for path in installed],
        [hashlib.sha256(path.read_bytes()).hexdigest() for path in sources],
        sorted((name, value) for name, value in os.environ.items() if name.startswith(AT_IMPORT)),
        [*sorted(os.sched_getaffinity(0)), os.getpriority(os.PRIO_PROCESS, 0)],
        [str(path.readlink()) for path in sorted(Path("/proc/self/ns").iterdir())],
        [Path("/proc/self", name).read_text() for name in ("limits", "cgroup")],
    ]
    return hashlib.sha256(json.dumps(shared).encode()).hexdigest()[:16]


@contextmanager
def _connection(folder: Path, preload: Callable[[], None]) -> Iterator[socket.socket]:
    """Connect to the server; start it when it does not run."""
    name = _server_name(preload)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            deadline, started = time.monotonic() + START_LIMIT, False
            while True:
                try:
                    # A socket's path is limited to 107 bytes; through the open folder it is short.
                    connection.connect(f"/proc/self/fd/{descriptor}/{name}")
                    break
                except (FileNotFoundError, ConnectionRefusedError):
                    if started and time.monotonic() > deadline:
                        raise
                if not started:
                    _start(folder, name, preload)
                    started = True
                time.sleep(0.02)
            yield connection
    finally:
        os.close(descriptor)


def _start(folder: Path, name: str, preload: Callable[[], None]) -> None:
    """Start a server in the background; when several start at once, one stays (see ``warm_server``)."""
    dvc = ancestor("dvc")
    owner = [str(dvc), start_time(dvc) or ""] if dvc else ["0", ""]
    arguments = [name, *owner, preload.__module__, preload.__name__]
    background.start(SERVER, arguments, folder=folder, log=folder / "server.log", environment=SINGLE_THREADED)


def _request(connection: socket.socket, work: Callable[[Any], Any], question: Any) -> Any:
    os.umask(mask := os.umask(0))
    request = {
        "work": [work.__module__, work.__name__],
        "question": question,
        "umask": mask,
        "folder": str(Path.cwd()),
        "path": sys.path,
        "environment": dict(os.environ),
    }
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as answer:
        try:
            socket.send_fds(connection, [b"!"], [writer, 1, 2])
        finally:
            os.close(writer)
        connection.sendall(json.dumps(request).encode() + b"\n")
        # Blocks until the fork has ended in any way: the caller must not do the work at the same time.
        text = answer.read()
    if text and not text.strip():
        raise ForkLost
    return json.loads(text)
