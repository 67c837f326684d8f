"""Runs one command such that nothing of it outlives its end, its time limit, or the process that asked for it.

``run_guarded`` starts ``python -m flows.guard LIMIT PARENT -- COMMAND``: a process with a session of its own that adopts
every descendant of the command (Linux's child subreaper), hears of its parent's death from the kernel, and ends all
of them, politely at first. No Prefect here.
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

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
GRACE = 10.0
"""Seconds between SIGTERM and SIGKILL."""
TIMED_OUT, ENDED = 124, 143
"""Exit codes: over its time limit; asked to end."""


class Ended(BaseException):
    """A signal asks the guard to end."""


def run_guarded(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit: float, on_line: Callable[[str], None]
) -> int:
    """Run ``command``, hand over its output line by line as it comes, and return its exit code.

    :data:`TIMED_OUT` after ``limit`` seconds. Whatever happens here, also an exception in ``on_line`` or in the
    waiting thread, no process of the command is left behind.
    """
    guarded = [sys.executable, "-m", "flows.guard", str(limit), str(os.getpid()), "--", *command]
    place = {
        **env,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(Path(__file__).resolve().parents[1]), env.get("PYTHONPATH", "")])),
    }
    child = subprocess.Popen(
        guarded, cwd=cwd, env=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", bufsize=1, start_new_session=True,
    )  # fmt: skip
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


def main(arguments: Sequence[str]) -> int:
    """The guard itself."""
    limit, parent, command = float(arguments[0]), int(arguments[1]), list(arguments[3:])
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _end)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    code = ENDED
    try:
        if os.getppid() != parent:
            return ENDED
        # Should the guard itself be killed outright, the kernel kills the command; this process has one thread.
        child = subprocess.Popen(command, preexec_fn=_die_with_guard)
        code = child.wait(limit)
        return code if code >= 0 else 128 - code
    except subprocess.TimeoutExpired:
        print(f"ended after its time limit of {limit:g} s", flush=True)
        return TIMED_OUT
    except FileNotFoundError:
        print(f"there is no command '{command[0]}'", flush=True)
        return 127
    except Ended:
        return ENDED
    finally:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        end_descendants()


def _end(_number: int, _frame: object) -> None:
    raise Ended


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value)


def _die_with_guard() -> None:
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end_descendants(grace: float = GRACE) -> None:
    """End every process below this one: SIGTERM, then SIGKILL after ``grace`` seconds; returns when all are reaped."""
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
    """Every process below this one, zombies included."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    found: list[int] = []
    ahead = list(children.get(os.getpid(), []))
    while ahead:
        pid = ahead.pop()
        found.append(pid)
        ahead.extend(children.get(pid, []))
    return found


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
