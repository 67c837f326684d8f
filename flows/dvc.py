"""DVC's command line in forks of one process that has imported DVC, which costs a tenth of starting ``dvc``.

:func:`run_dvc_guarded` starts that process, ``python -m flows.dvc``. Each command is a process of its own: it reads ``dvc.yaml``,
``params.yaml`` and ``dvc.lock`` as they are then, takes DVC's locks, and has a guard (:mod:`flows.guard`). All end with the
process that asked, in whatever way it ends. Does not import Prefect.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from components.core.addresses import code_path
from flows.guard import ENDED, GRACE, guard

PRELOADED = [
    "commands.repro",
    "cachemgr",
    "lock",
    "output",
    "parsing",
    "repo.index",
    "repo.reproduce",
    "repo.stage",
    "rwlock",
    "scm",
    "stage.cache",
]
"""Modules of DVC that bring all that ``dvc repro`` imports later."""


class DvcServer:
    """The process that forks. It has one thread, so that forks are safe, and leaves requests unread, so that none blocks it."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "flows.dvc", str(theirs.fileno())],
                env={**os.environ, "PYTHONPATH": code_path(os.environ)}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], start_new_session=True,
            )  # fmt: skip

    def ask(self, streams: Sequence[socket.socket]) -> None:
        """Have it fork for a request; raises OSError when it has ended."""
        socket.send_fds(self._channel, [b"x"], [stream.fileno() for stream in streams])

    def close(self) -> None:
        """End the process, and with it every command."""
        self._channel.close()
        self._process.wait()


_lock = threading.Lock()
_server: DvcServer | None = None


def _ask(streams: Sequence[socket.socket]) -> None:
    global _server
    with _lock:
        if _server is not None:
            try:
                return _server.ask(streams)
            except OSError:  # it was killed
                _server.close()
        _server = DvcServer()
        _server.ask(streams)


@atexit.register
def end_commands() -> None:
    """End every command that runs, and the process that forks; a further command starts another."""
    global _server
    with _lock:
        if _server is not None:
            _server.close()
            _server = None


def run_dvc_guarded(
    words: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit: float, on_line: Callable[[str], None]
) -> int:
    """Run ``dvc words`` as :func:`flows.guard.run_guarded` runs a command."""
    request = json.dumps({"words": list(words), "cwd": str(cwd), "env": dict(env), "limit": limit}).encode()
    output, out = socket.socketpair()
    control, theirs = socket.socketpair()
    with output, control:
        with out, theirs:
            _ask([out, theirs])
        try:
            control.sendall(request + b"\n")
            with output.makefile(errors="replace") as lines:
                for line in lines:
                    if line.strip():
                        on_line(line.rstrip())
            return int(control.recv(16) or ENDED)
        except ConnectionError:  # the server or the guard was killed
            return ENDED
        finally:  # without an answer, the guard sees the end of the control and ends the command
            with suppress(OSError):
                control.shutdown(socket.SHUT_WR)
                control.settimeout(2 * GRACE)
                control.recv(16)


def main(arguments: Sequence[str]) -> int:
    """Fork for each request until the channel ends."""
    # Here: seconds, which only this process needs to spend.
    from importlib import import_module

    from dvc.cli.parser import get_main_parser

    for name in PRELOADED:
        import_module(f"dvc.{name}")
    get_main_parser()
    gc.collect()
    gc.freeze()  # keeps the memory shared with the forks
    signal.signal(signal.SIGCHLD, _reap)  # a guard answers through its control
    with socket.socket(fileno=int(arguments[0])) as channel:
        while True:
            message, streams, _, _ = socket.recv_fds(channel, 1, 2)
            if not message:
                return 0
            if os.fork() == 0:
                channel.close()
                _serve(*streams)
            for stream in streams:
                os.close(stream)


def _reap(_number: int, _frame: object) -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue


def _serve(output: int, control: int) -> None:
    """Guard one command, answer with its exit code, and end this fork."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    for number in (1, 2):
        os.dup2(output, number)
    os.close(output)
    with socket.socket(fileno=control) as answer:
        with answer.makefile("rb") as lines:
            request = json.loads(lines.readline())

        def run() -> int:
            from dvc.cli import main as dvc  # here: in memory since the start, and seconds for whoever imports this module

            answer.close()
            os.environ.clear()
            os.environ.update(request["env"])
            os.chdir(request["cwd"])
            sys.argv = ["dvc", *request["words"]]  # what DVC's locks name
            return dvc(request["words"])

        code = guard(run, request["limit"], lambda: bool(select.select([answer], [], [], 0)[0]))
        try:
            answer.sendall(str(code).encode())
        finally:
            os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
