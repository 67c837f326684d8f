"""Runs a command in a fork of a background process that has imported its slow libraries: the client.

One server for each project and environment listens on a socket in ``.hearsight/warm``, which only its owner can enter. The client
sends its arguments, environment, working folder and open streams, and waits for the exit code; the fork imports the
project's own code anew. Whatever goes wrong (no server, a killed server, a killed fork) the answer is None, and the
caller does the work itself. The server's side is :mod:`components.execution.warm_server`.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from components.execution import background
from components.execution.process import ancestor, start_time

SWITCH = "HEARSIGHT_WARM"
"""Environment variable; with ``off``, no server is started or asked."""
START_LIMIT = 30.0
"""Seconds until a started server must listen; it listens before it imports anything slow."""
AT_IMPORT = ("ARROW", "GX_", "LANG", "LC_", "LD_", "MALLOC", "MKL_", "NPY_", "OMP_", "OPENBLAS", "PANDAS", "PYTHON", "TZ")
"""Beginnings of the names of environment variables that libraries read when they are imported."""
SINGLE_THREADED = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMEXPR_NUM_THREADS": "1"}
"""A process with threads cannot be forked safely, so the server's numeric libraries start none."""


def run_warm(root: Path, server: str, sources: tuple[Path, ...] = ()) -> int | None:
    """Run this process's command line in a fork of the server.

    Args:
        root: the project; its ``.hearsight`` holds the socket.
        server: the module to run as the server (``python -m``).
        sources: files of the server's own code beside this package's; an edit starts another server.

    Returns:
        The command's exit code; None when it did not come to its end there, and is to be run here.
    """
    if sys.platform != "linux" or os.environ.get(SWITCH) == "off":
        return None
    try:
        name = _environment_digest([Path(__file__), Path(__file__).with_name("warm_server.py"), *sources])
        with _connection(root / ".hearsight" / "warm", name, server) as connection:
            return _ask(connection)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _environment_digest(sources: list[Path]) -> str:
    """A name for what a server must share with its clients: interpreter, installed packages, server code, variables."""
    installed = [path for path in sys.path if path.endswith(("site-packages", "dist-packages")) and Path(path).is_dir()]
    what = [
        [sys.executable, sys.prefix, sys.version],
        # Installing, upgrading and removing a package all rename entries of these folders.
        [[path, Path(path).stat().st_mtime_ns] for path in installed],
        [hashlib.sha256(path.read_bytes()).hexdigest() for path in sources],
        sorted((name, value) for name, value in os.environ.items() if name.startswith(AT_IMPORT)),
    ]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]


@contextmanager
def _connection(folder: Path, name: str, server: str) -> Iterator[socket.socket]:
    """Connect to the server ``name``; start it when nobody listens."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            deadline, started = time.monotonic() + START_LIMIT, False
            while True:
                try:
                    # A socket's path may have 107 bytes; through the open folder it is short wherever the project lies.
                    connection.connect(f"/proc/self/fd/{place}/{name}")
                    break
                except (FileNotFoundError, ConnectionRefusedError):
                    if started and time.monotonic() > deadline:
                        raise
                if not started:
                    _start(folder, name, server)
                    started = True
                time.sleep(0.02)
            yield connection
    finally:
        os.close(place)


def _start(folder: Path, name: str, server: str) -> None:
    """Start a server in the background; of several started at once, one stays (see ``warm_server``)."""
    dvc = ancestor("dvc")
    keeper = [str(dvc), start_time(dvc) or ""] if dvc else ["0", ""]
    background.start(server, [name, *keeper], folder=folder, log=folder / "server.log", environment=SINGLE_THREADED)


def _ask(connection: socket.socket) -> int | None:
    request = {
        "arguments": sys.argv,
        "folder": str(Path.cwd()),
        "path": sys.path,
        "environment": {**os.environ, SWITCH: "off"},
        "encoding": sys.stdout.encoding,
    }
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as answer:
        try:
            socket.send_fds(connection, [b"!"], [0, 1, 2, theirs])
        finally:
            os.close(theirs)
        connection.sendall(json.dumps(request).encode() + b"\n")
        # Ends when the fork is gone, however it went: only then may somebody else do its work.
        code = answer.read()
    return int(code) if code else None
