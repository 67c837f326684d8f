"""Run ``dvc repro`` as children that never outlive this process; their output goes to a log."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import BinaryIO

from components.core.machine import usable_cores
from components.execution.process import die_with_parent
from components.tools.demo.lanes import Lane, next_lane
from components.tools.demo.progress import Progress

LOG = Path(".hearsight") / "logs" / "repro.log"
"""Below the project's root: the output of the last run."""
GRACE = 10.0
"""Seconds between SIGTERM and SIGKILL."""
ALL = Lane(frozenset())
"""No targets: everything that is not up to date."""
_TICK = 1.0
_CHUNK = 1 << 16
_KEPT_LINES = 12


def reproduce(root: Path, progress: Progress, lanes: Sequence[Lane] = ()) -> tuple[int, list[str]]:
    """Run ``dvc repro`` in ``root`` and report its stages to ``progress``.

    SIGTERM and SIGINT to this process end dvc and its children first; if this process is killed outright, the kernel kills dvc,
    and the stages notice that dvc is gone.

    Args:
        progress: receives every line of dvc's output.
        lanes: what runs first, a process for each lane and as many at once as there are cores; then ``dvc repro`` runs the rest.

    Returns:
        dvc's exit code (128 + N after signal N), and the last lines of its output.

    Raises:
        KeyboardInterrupt: SIGINT came; dvc has ended.
        SystemExit: SIGTERM came; dvc has ended.
    """
    log = root / LOG
    log.parent.mkdir(parents=True, exist_ok=True)
    last: deque[str] = deque(maxlen=_KEPT_LINES)

    def add_line(line: str) -> None:
        progress.add_line(line)
        if line:
            last.append(line)

    cores = usable_cores()
    with log.open("wb") as sink, _terminated_as_exit():
        try:
            code = _run_lanes(root, lanes, cores, sink, add_line, progress.tick)
            code = code or _run_lanes(root, [ALL], 1, sink, add_line, progress.tick)
        finally:
            progress.close()
    return (code if code >= 0 else 128 - code), list(last)


def _run_lanes(
    root: Path,
    lanes: Sequence[Lane],
    at_once: int,
    sink: BinaryIO,
    add_line: Callable[[str], None],
    tick: Callable[[], None],
) -> int:
    """Run ``dvc repro`` for each lane; end all at the first exit code that is not 0, and return it."""
    waiting, running, code = list(lanes), dict[subprocess.Popen[bytes], bytes](), 0
    lane_of: dict[subprocess.Popen[bytes], Lane] = {}
    with selectors.DefaultSelector() as selector:
        try:
            while (waiting or running) and not code:
                while len(running) < at_once and (lane := next_lane(waiting, (lane_of[child] for child in running))):
                    waiting.remove(lane)
                    child = _start(root, lane.targets)
                    running[child], lane_of[child] = b"", lane
                    selector.register(child.stdout, selectors.EVENT_READ, child)  # type: ignore[arg-type]
                ended: list[subprocess.Popen[bytes]] = []
                for key, _ in (ready := selector.select(_TICK)):
                    chunk = os.read(key.fd, _CHUNK)
                    sink.write(chunk)
                    sink.flush()
                    *lines, running[key.data] = (running[key.data] + chunk).split(b"\n")
                    for line in lines:
                        add_line(_plain(line))
                    if not chunk:
                        ended.append(key.data)
                if not ready:
                    tick()
                    # A background process of a stage may keep the pipe open after dvc has ended.
                    ended = [child for child in running if child.poll() is not None]
                for child in ended:
                    selector.unregister(child.stdout)  # type: ignore[arg-type]
                    if rest := running.pop(child):
                        add_line(_plain(rest))
                    code = child.wait() or code
                    _end(child)
        finally:
            for child in running:
                _end(child)
    return code


def _start(root: Path, targets: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start ``dvc repro``; with targets, run only these, in their order, without their dependencies."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    # A session of its own, so that one signal reaches every process of the run and Ctrl-C comes here first.
    return subprocess.Popen(
        [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", *(["--single-item", *targets] if targets else [])],
        cwd=root, env={**os.environ, "PATH": path, "DVC_NO_ANALYTICS": "1", "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True, preexec_fn=die_with_parent,
    )  # fmt: skip


def reason(lines: list[str]) -> str:
    """Return the line that says why a run failed: a stage's own error, else dvc's, else the last one."""
    for pattern in (r"^hearsight: (?!warning)", r"^ERROR: "):
        for line in reversed(lines):
            if re.search(pattern, line):
                return line
    return lines[-1] if lines else "no output"


def _plain(line: bytes) -> str:
    return line.decode(errors="replace").rstrip().rpartition("\r")[2]


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the run's processes: SIGTERM to all, SIGKILL to what is left."""
    if child.poll() is None:
        _signal(child, signal.SIGTERM)
        try:
            child.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass
        _signal(child, signal.SIGKILL)
        child.wait()
    if child.stdout is not None:
        child.stdout.close()


def _signal(child: subprocess.Popen[bytes], number: int) -> None:
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        pass


@contextmanager
def _terminated_as_exit() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into an exception, so that the clean-up runs."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    earlier = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
