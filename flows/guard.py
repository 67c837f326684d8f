"""Guard that ends all processes of a command when the command ends, exceeds its time limit, or loses its parent.

``run_guarded`` starts ``python -m flows.guard LIMIT PARENT -- COMMAND``: a process with its own session that adopts every
descendant of the command (Linux's child subreaper), gets a signal when its parent dies, and ends all descendants with SIGTERM,
then SIGKILL. Does not import Prefect.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from components.core.addresses import code_path
from components.execution.background import MARK

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
GRACE = 10.0
"""Seconds between SIGTERM and SIGKILL."""
TIMED_OUT, ENDED = 124, 143
"""Exit codes: time limit exceeded; ended by a signal."""
POLL = 0.02
"""Seconds between two looks at the command."""
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""What ends a guard."""


_running: set[subprocess.Popen[str]] = set()
"""The guards of this process's commands."""


def run_guarded(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit: float, on_line: Callable[[str], None]
) -> int:
    """Run ``command``, call ``on_line`` with each line of output, and return the exit code.

    The exit code is :data:`TIMED_OUT` after ``limit`` seconds. No process of the command is left behind, even after an exception
    in ``on_line`` or in the waiting thread.
    """
    guarded = [sys.executable, "-m", "flows.guard", str(limit), str(os.getpid()), "--", *command]
    child = subprocess.Popen(
        guarded, cwd=cwd, env={**env, "PYTHONPATH": code_path(env)},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", bufsize=1, start_new_session=True,
    )  # fmt: skip
    _running.add(child)
    try:
        assert child.stdout is not None
        for line in child.stdout:
            if line.strip():
                on_line(line.rstrip())
        return child.wait()
    finally:
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(GRACE + 5)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        _running.discard(child)


def end_commands() -> None:
    """End every command that runs in this process's threads: they get :data:`ENDED`."""
    for child in list(_running):
        child.terminate()


def main(arguments: Sequence[str]) -> int:
    """Run the guard; return the command's exit code."""
    limit, parent, command = float(arguments[0]), int(arguments[1]), list(arguments[3:])
    ended: list[int] = []
    for number in SIGNALS:
        # A flag, not an exception: the guard gets one signal for each thread of its parent that ends, also while it cleans up.
        signal.signal(number, lambda number, _frame: ended.append(number))
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    try:
        deadline = time.monotonic() + limit
        child = subprocess.Popen(command, preexec_fn=lambda: _prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        while os.getppid() == parent and not ended:
            if (code := child.poll()) is not None:
                return code if code >= 0 else 128 - code
            if time.monotonic() > deadline:
                print(f"ended after its time limit of {limit:g} s", flush=True)
                return TIMED_OUT
            time.sleep(POLL)
        return ENDED
    except FileNotFoundError:
        print(f"there is no command '{command[0]}'", flush=True)
        return 127
    finally:
        for number in SIGNALS:  # ignored, since Python's own end would restore their defaults
            signal.signal(number, signal.SIG_IGN)
        end_descendants()


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value)


def end_descendants(grace: float = GRACE) -> None:
    """End every descendant: SIGTERM, then SIGKILL after ``grace`` seconds; return when all are reaped."""
    deadline = time.monotonic() + grace
    _signal(descendants(), signal.SIGTERM)
    while left := descendants():
        if time.monotonic() > deadline:
            _signal(left, signal.SIGKILL)
        _reap()
        time.sleep(0.02)


def _signal(pids: Sequence[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return


def descendants() -> list[int]:
    """Return the pids of all descendants but Hearsight's background processes, which serve the next stages and end when idle.

    Zombies are included; without Linux, those that have changed their parent are not.
    """
    return [process.pid for process in psutil.Process().children(recursive=True) if not _in_background(process)]


def _in_background(process: psutil.Process) -> bool:
    try:
        return MARK in process.environ()
    except (psutil.Error, OSError):
        return False


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
